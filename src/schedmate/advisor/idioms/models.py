"""The name a person would call the model by: a hub id, an architecture, a telling class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.idioms.base import Reading, Said
from schedmate.advisor.idioms.calls import said, words
from schedmate.advisor.python.trace import Binding
from schedmate.advisor.python.values import LocalClass, Table, Value

_WEIGHTS = re.compile(
    r"\.(?:pt|pth|ckpt|bin|safetensors|yaml|yml|json|py|h5|keras|onnx|tar|cfg|gguf)$"
)
_SNAPSHOT = re.compile(
    r"(?:checkpoint|global_step|step|epoch|iter)[-_=]?\d{1,12}|[0-9a-f]{32,64}|v?\d{1,9}",
    re.IGNORECASE,
)
_TRAINED = re.compile(r"(?:checkpoint|global_step|step|epoch|iter)[-_=]?\d{1,12}", re.IGNORECASE)
_SAYS_LITTLE = words(
    "model models net network module backbone pretrained checkpoint checkpoints ckpt ckpts weights "
    "last best final latest output outputs out save saved hub huggingface cache snapshots hf mnt "
    "default none null auto custom data exp logs runs results home scratch work tmp pytorch_model "
    "model_best best_model model_final"
)
_PLAIN_CLASSES = re.compile(
    r"(?:My|Lit|PL|Lightning|Simple|Base|Custom|Toy|Basic|Neural|The|Full|Main)?"
    r"(?:Auto)?(?:Model|Net|Network|Module|Classifier|Wrapper|Trainer|Solver|Agent|Task|System"
    r"|Learner|Regressor|Policy|Generator|Loss|Criterion|Regression|Classification)?",
    re.IGNORECASE,
)
_NO_MODELS = re.compile(
    r"Loss|Criterion|Metric|Meter|Augment|Transform(?!er)|Discriminator|Critic|Embed|Tokenizer|EMA"
    r"|Encoder$|Decoder$|Head$|Block|Layer|Norm|Wrapper|DataModule|Scheduler|Optimizer|Trainer$|Distiller$|Tuner$|Metric|KID|FID"
)
_NETWORKS = (
    "nn.Module",
    "Module",
    "LightningModule",
    "keras.Model",
    "models.Model",
    "nn.Cell",
    "nn.Layer",
    "PreTrainedModel",
    "ComposerModel",
)
_HOLDERS = re.compile(
    r"(?:^|_)(?:model|net|network|gpt|unet|transformer|vit|module)(?:$|_)|^netG$|^(?:raw_)?model"
)
_PARTS_OF_A_HUB_ID = 2


def model_name(text: str) -> str | None:
    """`/ckpts/llama-7b/checkpoint-500` is `llama-7b`, `meta-llama/Llama-2-7b-hf` is itself,
    `weights/yolov8n.pt` is `yolov8n`; None where nothing tells (`./model.pt`)."""
    name = text.strip()
    if _is_hub_id(name):
        return name
    for part in reversed(PurePosixPath(name).parts):
        bare = _WEIGHTS.sub("", part)
        if bare.lower() not in _SAYS_LITTLE and not _SNAPSHOT.fullmatch(bare) and _telling(bare):
            return bare
    return None


def telling_class(name: str) -> bool:
    """`GPT` and `UNet` tell what they are, `Net` and `MyModel` do not."""
    return not _PLAIN_CLASSES.fullmatch(name) and not _NO_MODELS.search(name)


def own_models(reading: Reading) -> Iterator[Said]:
    """A class of the job's own; not certain, so that any setting that names a model wins."""
    held = [binding for binding in reading.trace.bindings if _holds_network(binding)]
    found = [binding for binding in held if binding.where != "attribute"] or held
    by_class = {_class_of(binding): binding for binding in reversed(found)}
    if len(by_class) > 1 or not any(each.depth == 0 for each in by_class.values()):
        by_class = {name: each for name, each in by_class.items() if _HOLDERS.search(each.name)}
    if len(by_class) == 1:
        name, binding = by_class.popitem()
        value = Value(name, (binding.line,))
        yield from said("model", value, binding, confidence=0.8, certain=False)


def _is_hub_id(name: str) -> bool:
    parts = name.split("/")
    return (
        len(parts) == _PARTS_OF_A_HUB_ID
        and all(parts)
        and not name.startswith((".", "~", "/", "$"))
        and not _WEIGHTS.search(name)
        and parts[0].lower() not in _SAYS_LITTLE
        and not _TRAINED.fullmatch(parts[1])
    )


def _telling(bare: str) -> bool:
    return any(letter.isalpha() for letter in bare) and not set(bare) & set("{}$*~")


def _holds_network(binding: Binding) -> bool:
    data = binding.value.data
    return (
        isinstance(data, Table)
        and isinstance(data.of, LocalClass)
        and binding.where in ("module", "local", "attribute")
        and data.of.inherits(*_NETWORKS)
        and telling_class(_class_of(binding))
    )


def _class_of(binding: Binding) -> str:
    of = binding.value.data.of
    return of.name.rpartition(".")[2] if isinstance(of, LocalClass) else ""

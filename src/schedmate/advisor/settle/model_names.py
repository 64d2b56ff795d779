"""The name a person would call the model by: a hub id, an architecture, a telling class."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from schedmate.advisor.settle.placeholders import is_placeholder
from schedmate.advisor.sources.words import words

_WEIGHTS = re.compile(
    r"\.(?:pt|pth|ckpt|bin|safetensors|yaml|yml|json|py|h5|keras|onnx|tar|cfg|gguf)$"
)
_SNAPSHOT = re.compile(
    r"(?:checkpoint|global_step|step|epoch|iter)[-_=]?\d{1,12}|[0-9a-f]{32,64}|v?\d{1,9}",
    re.IGNORECASE,
)
_TRAINED = re.compile(r"(?:checkpoint|global_step|step|epoch|iter)[-_=]?\d{1,12}", re.IGNORECASE)
_SAYS_LITTLE = words(
    "model models net network module backbone pretrained checkpoint checkpoints ckpt ckpts "
    "weights last best final latest output outputs out save saved hub huggingface cache "
    "snapshots hf mnt default none null auto custom data exp logs runs results home scratch "
    "work tmp pytorch_model model_best best_model model_final path to your base_model basemodel"
)
_PLAIN_CLASSES = re.compile(
    r"(?:My|Lit|PL|Lightning|Simple|Base|Custom|Toy|Basic|Neural|The|Full|Main)?"
    r"(?:Auto)?(?:Model|Net|Network|Module|Classifier|Wrapper|Trainer|Solver|Agent|Task|System"
    r"|Learner|Regressor|Policy|Generator|Loss|Criterion|Regression|Classification)?",
    re.IGNORECASE,
)
_NO_MODELS = re.compile(
    r"^Generator|FeatureExtractor|Loss|Criterion|Metric|Meter|Augment|Transform(?!er)|Discriminator|(?<!Actor)Critic|^Temperature$|^Alpha$|Embed|Tokenizer|EMA"
    r"|Encoder$|Decoder$|Head$|Block|Layer|Norm|Wrapper|DataModule|Scheduler|Optimizer|Trainer$|Ensemble$|^Actor$|Distiller$|Tuner$|Metric|KID|FID"
)
_CLASSES_THAT_DO = ("Net", "Network")
"""What a class may well be called, but no file."""
_PARTS_OF_A_HUB_ID = 2


def model_name(text: str) -> str | None:
    """`/ckpts/llama-7b/checkpoint-500` is `llama-7b`, `meta-llama/Llama-2-7b-hf` is itself,
    `weights/yolov8n.pt` is `yolov8n`; None where nothing tells (`./model.pt`)."""
    name = text.strip()
    if _is_hub_id(name) or name in _CLASSES_THAT_DO:
        return name
    for part in reversed(PurePosixPath(name).parts):
        bare = _WEIGHTS.sub("", part)
        if bare.lower() not in _SAYS_LITTLE and not _SNAPSHOT.fullmatch(bare) and _telling(bare):
            return bare
    return name if is_placeholder(name) else None


def telling_class(name: str) -> bool:
    """`GPT` and `UNet` tell what they are, `Net` and `MyModel` do not."""
    return not _PLAIN_CLASSES.fullmatch(name) and not _NO_MODELS.search(name)


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

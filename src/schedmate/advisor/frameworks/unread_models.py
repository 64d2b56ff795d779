"""Models by what else names them: a class whose code is not at hand, a function, a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import claim, is_of, last_name
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.model_names import telling_class
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

_THE_MODEL = re.compile(r"^(?:self\.)?(?:model|n?net|network|policy_net)$")
_LIBRARIES = (
    *words(
        "torch torchvision transformers diffusers accelerate deepspeed apex fairscale peft timm "
        "lightning pytorch_lightning lightning_fabric hydra omegaconf keras tensorflow tf_keras "
        "horovod jax optax flax xgboost lightgbm catboost sklearn wandb argparse numpy pandas ? "
        "str dict list builtins ray datasets trl functools collections easydict munch types copy "
        "ultralytics statsmodels gensim composer monai paddle mindspore mxnet"
    ),
)
"""Other readers name models of these, or their classes are no names of models."""
_CLASS = re.compile(r"[A-Za-z]\w*[A-Z]\w*|[A-Z]\w+")
_WRAPS = re.compile(r"Parallel|DDP|FSDP|Model$|Wrapper|EMA$|Trainer|Config|Parser|Args|Runner")
_KERAS_MODEL = re.compile(r"keras\.(?:\w{1,20}\.){0,3}(?:Model|Sequential)$")
_MAKES = re.compile(
    r"^_{0,2}(?:build|get|create|make|define|load|compile|prepare|init|setup|construct|initialize)_|_?(?:model|network)$"
)
_ARCHITECTURE = re.compile(
    r"u_?net|resnet|vgg|densenet|inception|lstm|gru|cnn|transformer|bert|gan|auto_?encoder|vae|fcn|"
    r"segnet|deeplab|mobilenet|efficientnet|alexnet|lenet|convnet|mlp|rnn|vit|mixer|wavenet",
    re.IGNORECASE,
)
_OF_TRANSFORMERS = re.compile(r"(Transformer)(?:Block|Encoder|Decoder|Layer)", re.IGNORECASE)
_NAMED_AFTER = re.compile(
    r"(?<![a-z])((?:[a-z]{0,10}gan|[a-z]{0,6}gpt|[a-z]{0,8}unet|[a-z]{0,4}vae|ppo|dqn|ddpg|td3|sac|a2c|a3c|ddpm|"
    r"ddim|nerf|[a-z]{0,4}gcn|gat|simclr|moco|byol|pix2pix)\d?)(?![a-z])",
    re.IGNORECASE,
)
_KINDS = (
    (".MultiHeadAttention", "Transformer"),
    (".LSTM", "LSTM"),
    (".GRU", "GRU"),
    (".Conv2D", "CNN"),
)
_NETWORKS = ("nn.Module", "Module", "keras.Model")


def unread(reading: Reading) -> Iterator[Claim]:
    """`net = Models.TDNN.multi_TDNN()`: the name of the class is all there is."""
    for call in reading.trace.calls:
        name = last_name(call.callee)
        if _THE_MODEL.match(call.target) and _is_somebodys_class(call.callee, name):
            at = _import_of(reading, call)
            value = Value(name, (call.line, *at))
            yield from claim("model", value, call, confidence=0.7, certain=False)
            return


def _is_somebodys_class(callee: str, name: str) -> bool:
    return (
        bool(_CLASS.fullmatch(name))
        and telling_class(name)
        and not _WRAPS.search(name)
        and "." in callee
        and not is_of(callee, *_LIBRARIES)
    )


def _import_of(reading: Reading, call: Call) -> list[Evidence]:
    return [each.line for each in reading.trace.imports if each.name == call.callee][:1]


def functional(reading: Reading) -> Iterator[Claim]:
    """A model of layers has the name of the function that puts them together."""
    for call in reading.trace.calls:
        if _KERAS_MODEL.search(call.callee) and "." not in call.within:
            name = _MAKES.sub("", _MAKES.sub("", call.within))
            if _ARCHITECTURE.search(name):
                value = Value(name, (*_definition(reading, call.within), call.line))
                yield from claim("model", value, call, confidence=0.7, certain=False)
                return


def of_layers(reading: Reading) -> Iterator[Claim]:
    """A model of layers without a name is what its most telling layer makes it."""
    for each in reading.trace.instances:
        layer = _OF_TRANSFORMERS.match(each.of.name)
        if layer is not None and each.depth == 0:
            value = Value(layer[1], (each.line, each.of.line))
            yield from claim("model", value, each, confidence=0.6, certain=False)
            return
    yield from _of_keras_layers(reading)


def _of_keras_layers(reading: Reading) -> Iterator[Claim]:
    """Convolutions in a graph make many things, one behind the other a plain network."""
    built = [call for call in reading.trace.calls if _KERAS_MODEL.search(call.callee)]
    in_a_row = bool(built) and built[0].callee.endswith("Sequential")
    for ending, name in _KINDS if built else ():
        made = [call for call in reading.trace.calls if call.callee.endswith(ending)]
        layers = [call for call in made if "keras" in call.callee]
        if layers and (name != "CNN" or in_a_row):
            value = Value(name, (layers[0].line, built[0].line))
            yield from claim("model", value, layers[0], confidence=0.5, certain=False)
            return


def _definition(reading: Reading, function: str) -> list[Evidence]:
    return [each.line for each in reading.trace.functions if each.name == function][:1]


def after_the_file(reading: Reading) -> Iterator[Claim]:
    """Networks with names like `Net` and `Generator` are what the file or its folder says."""
    nets = [each for each in reading.trace.instances if each.of.inherits(*_NETWORKS)]
    built = [call for call in reading.trace.calls if _KERAS_MODEL.search(call.callee)]
    named = _named_after(reading)
    for each in nets[:1] if named else ():
        value = Value(named, tuple(dict.fromkeys((each.of.line, each.line))))
        yield from claim("model", value, each, confidence=0.6, certain=False)
        return
    for call in built[:1] if named else ():
        value = Value(named, (call.line,))
        yield from claim("model", value, call, confidence=0.6, certain=False)


def _named_after(reading: Reading) -> str:
    source = reading.run.entry.source
    path = None if source is None else source.path
    names = [reading.run.entry.name] if path is None else [path.stem, path.parent.name]
    found = (_NAMED_AFTER.search(name.lower().replace("-", "_")) for name in names)
    return next((each[1] for each in found if each is not None), "")

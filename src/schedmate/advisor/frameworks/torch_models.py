"""Models that PyTorch's libraries make, by the name that a job asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    chosen_claim,
    claim,
    implied_claim,
    is_direct,
    is_of,
    last_name,
    number_of,
    parts_of,
    text_of,
    truth_of,
)
from schedmate.advisor.frameworks.own_models import is_network
from schedmate.advisor.frameworks.shapes import tells_shape
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Value
from schedmate.advisor.settle.claim import Claim

_HELPERS = re.compile(
    r"tokenizer|processor|featureextractor|scheduler|config|vocoder|generationmixin|quantiz"
    r"|vae|autoencoder|textencoder|clipvision|cliptext|dataset|collator",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"teacher|reward|ref(?:erence)?_|_ref|ema|draft|judge|disc|lpips|perceptual|loss|_features|featureextractor"
)
_NAMED_BY_ARGUMENT: dict[str, tuple[str, int]] = {
    "timm.create_model": ("model_name", 0),
    "timm.models.create_model": ("model_name", 0),
    "torchvision.models.get_model": ("name", 0),
    "open_clip.create_model_and_transforms": ("model_name", 0),
    "open_clip.create_model": ("model_name", 0),
    "clip.load": ("name", 0),
    "torch.hub.load": ("model", 1),
    "SentenceTransformer": ("model_name_or_path", 0),
    "CrossEncoder": ("model_name", 0),
    "FastLanguageModel.from_pretrained": ("model_name", 0),
    "EfficientNet.from_name": ("model_name", 0),
    "EfficientNet.from_pretrained": ("model_name", 0),
}
_ASKED_BY_NAME = frozenset(name.rpartition(".")[2] for name in _NAMED_BY_ARGUMENT)
_LIBRARIES = (
    "segmentation_models_pytorch",
    "monai.networks.nets",
    "torch_geometric.nn.models",
    "vit_pytorch",
    "x_transformers",
    "mamba_ssm",
)
_ALSO_LAYERS = ("mamba_ssm", "x_transformers", "vit_pytorch")
"""What they make is as often a part of a network as one."""
_ENCODERS = ("clip.load", "open_clip.create_model_and_transforms", "open_clip.create_model")
_DENOISERS = re.compile(r"(?:UNet|DiT|Transformer|SD3|Flux|PixArt|Sana|CogVideoX)\w{0,40}Model")
_FROM = ("from_pretrained", "from_config", "from_name", "load_from_checkpoint")


def models(reading: Reading) -> Iterator[Claim]:
    """The first that is surely made and is no tokenizer, teacher or reference of it."""
    found = [
        each
        for call in reading.trace.calls
        for each in _model(call, reading)
        if not _aside(call)
        and not _compares(call, reading)
        and not _is_layer(call, reading)
        and not _is_part(call, reading)
    ]
    sure = [each for each in found if each.certain] or found
    yield from sorted(sure, key=lambda each: -each.confidence)[:1]


def _aside(call: Call) -> bool:
    return bool(_ASIDE.search(f"{call.target} {call.within}".lower()))


def _compares(call: Call, reading: Reading) -> bool:
    """Where two networks play against each other, one off the shelf but compares pictures."""
    return is_of(call.callee, "torchvision.models", "timm") and any(
        "Discriminator" in each.of.name for each in reading.trace.instances
    )


def _is_layer(call: Call, reading: Reading) -> bool:
    owner = call.within.partition(".")[0]
    return is_of(call.callee, *_ALSO_LAYERS) and any(
        each.name == owner and each.inherits("nn.Module", "Module")
        for each in reading.trace.classes
    )


def _is_part(call: Call, reading: Reading) -> bool:
    """A frozen part of a network, or one that is handed to a network with a shape of its own."""
    if any(
        truth_of(freeze.argument("requires_grad", 0)) is False
        for freeze in calls_of(reading, "requires_grad_")
        if freeze.receiver is not None and _is_made_by(freeze.receiver, call)
    ):
        return bool(_own_class(call, reading))
    if _only_asked(call, reading):
        return True
    return any(
        True
        for each in reading.trace.instances
        if is_network(each.of) and tells_shape(each)
        for value in each.arguments.values()
        for held in (value, *parts_of(value).values())
        if _is_made_by(held, call)
    )


def _only_asked(call: Call, reading: Reading) -> bool:
    """`encoder.eval()`, whose parameters no optimiser gets, or an encoder that is seldom trained,
    beside a network of the job's own."""
    asked = [
        last_name(each.callee)
        for each in calls_of(reading, "eval", "train", "parameters", "named_parameters")
        if each.receiver is not None and _is_made_by(each.receiver, call)
    ]
    own = (each for each in reading.trace.instances if each.certain and each.depth == 0)
    helps = {*asked} == {"eval"} or is_of(call.callee, *_ENCODERS)
    return helps and any(is_network(each.of) for each in own)


def _own_class(call: Call, reading: Reading) -> str:
    """The job's own network in whose constructor a call stands."""
    owner = call.within.partition(".")[0]
    return next((each.name for each in reading.trace.classes if each.name == owner), "")


def _is_made_by(value: Value, call: Call) -> bool:
    made = value.data
    while isinstance(made, LibraryObject):
        if made.call is call:
            return True
        made = None if made.call.receiver is None else made.call.receiver.data
    return False


def _is_one_of_many(call: Call, reading: Reading) -> bool:
    """Where a job makes several networks and takes one by its name, a part of one is not it."""
    owner = call.within.partition(".")[0]
    names = [text_of(value) or "" for value in reading.options.values()]
    made = {each.of.name for each in reading.trace.instances if each.depth > 0 and not each.target}
    return owner in made and text_of(call.argument("model_name", 0)) not in names


def _model(call: Call, reading: Reading) -> Iterator[Claim]:
    last = last_name(call.callee)
    for name in _NAMED_BY_ARGUMENT if last in _ASKED_BY_NAME else ():
        if f".{call.callee}".endswith(f".{name}"):
            argument, place = _NAMED_BY_ARGUMENT[name]
            sure = call.certain and not _is_one_of_many(call, reading)
            yield from claim("model", call.argument(argument, place), call, certain=sure)
            return
    if last == "snapshot_download" and text_of(call.keywords.get("repo_type")) in (None, "model"):
        yield from claim("model", call.argument("repo_id", 0), call, confidence=0.8)
    elif last in _FROM:
        yield from _pretrained(call, _depth(call, reading))
    elif is_of(call.callee, "torchvision.models"):
        yield from _torchvision(call, reading)
    elif is_of(call.callee, "diffusers") and _DENOISERS.fullmatch(last):
        yield from implied_claim("model", last, call, confidence=0.8)
    elif last[:1].isupper() and is_of(call.callee, *_LIBRARIES):
        yield from implied_claim("model", last, call, confidence=0.85)
    elif last[:1].isupper() and is_of(call.callee, "transformers") and _is_model_class(last):
        yield from _from_config(call, call.argument("config", 0))


def _torchvision(call: Call, reading: Reading) -> Iterator[Claim]:
    name = last_name(call.callee)
    if name[:1].islower() and is_direct(call.callee) and not name.startswith("create_"):
        yield from chosen_claim("model", name, call, reading)


def _depth(call: Call, reading: Reading) -> int:
    """That of the network which is built around it, so that neither is further away."""
    owner, _, method = call.within.rpartition(".")
    around = [each.depth for each in reading.trace.instances if each.of.name == owner]
    return min(call.depth, *around) if around and method == "__init__" else call.depth


def _pretrained(call: Call, depth: int) -> Iterator[Claim]:
    owner = call.callee.rpartition(".")[0]
    if is_of(owner, "datasets", "tokenizers", "peft") or _HELPERS.search(last_name(owner)):
        return
    if call.callee.endswith(".from_config"):
        yield from _from_config(call, call.argument("config", 0))
        return
    name = call.argument("pretrained_model_name_or_path", 0)
    confidence = 0.95 if text_of(call.keywords.get("subfolder")) in (None, "unet") else 0.85
    yield from claim("model", name, call, confidence=confidence, depth=depth)


def _from_config(call: Call, config: Value | None) -> Iterator[Claim]:
    """The id that its config was loaded from; one made on the spot is called by its class."""
    data = None if config is None else config.data
    if not isinstance(data, LibraryObject):
        return
    if last_name(data.call.callee) == "from_pretrained":
        name = data.call.argument("pretrained_model_name_or_path", 0)
        yield from claim("model", name, call, confidence=0.9)
    elif last_name(data.call.callee).endswith("Config"):
        family = last_name(data.call.callee).removesuffix("Config")
        yield from implied_claim("model", family.lower(), call, confidence=0.8)


def _is_model_class(name: str) -> bool:
    return bool(re.search(r"Model$|For[A-Z]|LMHead", name)) and not _HELPERS.search(name)


def sequence_lengths(reading: Reading) -> Iterator[Claim]:
    """What a tokenizer cuts its texts to."""
    for call in reading.trace.calls:
        if not re.search(r"[Tt]okenizer", call.callee) or last_name(call.callee) == "decode":
            continue
        length = call.keywords.get("max_length")
        if (number_of(length) or 0) > 0 and truth_of(call.keywords.get("truncation")) is not False:
            yield from claim("sequence_length", length, call, confidence=0.85)
            return

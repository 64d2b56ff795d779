"""Networks that are classes of the job's own, by the names that those have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import claim, last_name
from schedmate.advisor.frameworks.unread_models import after_the_file, functional, of_layers, unread
from schedmate.advisor.interpret.python.trace import Instance
from schedmate.advisor.interpret.python.values import Dotted, LocalClass, Table, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.model_names import telling_class
from schedmate.advisor.sources.words import words

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
_NETWORK = re.compile(r"(?:LightningModule|PreTrainedModel|ModelMixin)$|For[A-Z]\w{1,40}$")
_AROUND = ("LightningModule", "ComposerModel")
"""They hold the network that a person means."""
_HOLDERS = re.compile(
    r"(?:^|_)(?:model|n?net|network|gpt|unet|transformer|vit|module)(?:$|_)|^netG$|^(?:raw_)?model"
)
_ARCHITECTURE = re.compile(
    r"(?:[a-z0-9]Net|[A-Z0-9]Net|Former|[a-z]former|BERT|Bert|GPT|ViT|LSTM|GRU|GNN|GCN|Mamba)"
    r"(?:V?\d{1,3})?$"
)
"""Names of whole architectures, as opposed to blocks and heads."""
_NAMES_A_MODEL = words(
    "model model_name model_name_or_path model_id model_type arch architecture net network "
    "pretrained_model_name_or_path base_model"
)

_IS_NONE = re.compile(
    r"Loss|Criterion|Metric|Augment|Discriminator|Wrapper|Transform(?!er)|Norm|EMA|Trainer$|Ensemble$"
    r"|^(?:Actor|Critic)$"
)


def own_models(reading: Reading) -> Iterator[Claim]:
    """Not certain, so that any setting that names a model wins."""
    kinds = (own_networks, unread, functional, after_the_file, of_layers, _plain_networks)
    found = (each for kind in kinds for each in kind(reading))
    first = next(found, None)
    if first is not None:
        yield first


def own_networks(reading: Reading) -> Iterator[Claim]:
    """The one that is no part of another. A setting that names a backbone names but a part."""
    networks = [each for each in reading.trace.instances if is_network(each.of)]
    whole = _whole(networks)
    telling = [each for each in whole if telling_class(_name(each))]
    telling = telling or _architectures_inside(whole, networks)
    if _play_against_each_other(networks):
        telling = [each for each in telling if "gan" in _name(each).lower()]
    found = _chosen(reading, telling)
    if found is not None:
        value = Value(_name(found), tuple(dict.fromkeys((found.line, *found.named))))
        certain = found.certain and _is_but_a_part_named(reading)
        yield from claim("model", value, found, confidence=0.8, certain=certain)


def _architectures_inside(
    whole: Sequence[Instance], networks: Sequence[Instance]
) -> list[Instance]:
    """Of one network with a plain name the whole architectures that it is made of."""
    names = {each.of.name for each in whole if not _IS_NONE.search(_name(each))}
    if len(names) != 1:
        return []
    return [
        each
        for each in networks
        if each.within.partition(".")[0] in names
        and _ARCHITECTURE.search(_name(each))
        and telling_class(_name(each))
    ]


def _plain_networks(reading: Reading) -> Iterator[Claim]:
    """`Net` is better than nothing; of two that play against each other the one that makes."""
    networks = [each for each in reading.trace.instances if is_network(each.of) and each.certain]
    makers = [each for each in networks if _name(each).startswith("Generator")]
    only = {_name(each): each for each in reversed(makers or _whole(networks))}
    for name, each in only.items() if len(only) == 1 else ():
        if not _IS_NONE.search(name):
            value = Value(name, tuple(dict.fromkeys((each.line, *each.named))))
            yield from claim("model", value, each, confidence=0.5, certain=False)


def _play_against_each_other(networks: Sequence[Instance]) -> bool:
    """What is beside a generator and a discriminator helps to judge what they do."""
    names = " ".join(_name(each) for each in networks)
    return "Generator" in names and "Discriminator" in names


def is_network(cls: LocalClass) -> bool:
    return cls.inherits(*_NETWORKS) or _is_built_on_one(cls)


def _is_built_on_one(cls: LocalClass) -> bool:
    """Of a class whose code is elsewhere the name tells: `BertPreTrainedModel`."""
    bases = [base.data for base in cls.bases]
    return any(
        _is_built_on_one(base)
        if isinstance(base, LocalClass)
        else isinstance(base, Dotted) and bool(_NETWORK.search(base.name))
        for base in bases
    )


def _name(instance: Instance) -> str:
    return last_name(instance.of.name)


def _whole(networks: Sequence[Instance]) -> list[Instance]:
    """Those that are neither made inside another one, nor handed to one, nor kept by one."""
    holding = [each for each in networks if not each.of.inherits(*_AROUND)]
    inside = {each.of.name for each in holding}
    handed = {id(value.data) for each in holding for value in each.arguments.values()}
    handed |= {held for each in holding for held in _held_by(each)}
    whole = [
        each
        for each in networks
        if each.within.partition(".")[0] not in inside and id(each.value.data) not in handed
    ]
    if any(_is_surely_one(each) for each in whole if each in holding):
        whole = [each for each in whole if each.certain]
    inner = [each for each in whole if each in holding and telling_class(_name(each))]
    return inner or whole


def _is_surely_one(instance: Instance) -> bool:
    return instance.certain and not _IS_NONE.search(_name(instance))


def _held_by(network: Instance) -> Iterator[int]:
    """What it keeps as its own, wherever it was made."""
    data = network.value.data
    for value in data.parts.values() if isinstance(data, Table) else ():
        if isinstance(value.data, Table) and value.data is not data:
            yield id(value.data)


def _chosen(reading: Reading, found: list[Instance]) -> Instance | None:
    """Of several the sure ones, then those that are called the model."""
    held = _holders(reading)
    sure = [each for each in found if each.certain]
    called = [each for each in sure or found if _HOLDERS.search(_called(each, held))]
    for some in (found, sure, called):
        if len({_name(each) for each in some}) == 1:
            near = any(each.depth == 0 for each in some)
            return some[0] if near or called else None
    return None


def _holders(reading: Reading) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for each in reading.trace.bindings:
        if isinstance(each.value.data, Table) and each.where in ("module", "local"):
            found.setdefault(id(each.value.data), []).append(each.name)
    return found


def _called(instance: Instance, held: dict[int, list[str]]) -> str:
    names = [instance.target, *held.get(id(instance.value.data), ())]
    return next((name for name in names if _HOLDERS.search(name)), "")


def _is_but_a_part_named(reading: Reading) -> bool:
    names = {last_name(name.lstrip("-").replace("-", "_").lower()) for name in reading.options}
    return "backbone" in names and not names & _NAMES_A_MODEL

"""Data sets of the PyTorch context: torchvision, the hub's, folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    chosen_claim,
    claim,
    first_of,
    is_direct,
    is_of,
    last_name,
    runs,
    text_of,
)
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

_LIBRARIES = ("torchvision", "torchaudio", "torchtext", "torch_geometric", "torchgeo", "ogb")
_NOT_SETS = words(
    "ImageFolder DatasetFolder VisionDataset FakeData CocoDetection Planetoid TUDataset "
    "Dataset TranslationDataset LanguageModelingDataset TabularDataset InMemoryDataset Data "
    "Compose WrapperDataset wrap_dataset_for_transforms_v2 ImageNet PygNodePropPredDataset "
    "PygGraphPropPredDataset PygLinkPropPredDataset"
)
_NAMED = frozenset({"Planetoid", "TUDataset", "MoleculeNet", "GNNBenchmarkDataset", "Amazon"})
_FILES = frozenset({"json", "csv", "text", "parquet", "imagefolder", "arrow", "webdataset"})
_FOLDERS = frozenset({"ImageFolder", "DatasetFolder", "WebDataset", "load_from_disk"})
_SPLITS = re.compile(r"^(?:train|training|val|valid|validation|test|data|dataset|images?)\d{0,4}$")
_PLAIN = frozenset({"default", "plain_text", "main", "full", "all", "simple", "raw", "en"})
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][A-Z]{2,4})?")
_OTHER = re.compile(r"(?:^|_)(?:val|valid|test|eval|dev)", re.IGNORECASE)
_PART_FOR_OTHERS = re.compile(r"""\)\[["'](?:val|valid|validation|test|eval|dev)""")


def datasets(reading: Reading) -> Iterator[Claim]:
    """The first that is surely loaded and is not called after an evaluation."""
    found = [
        (_is_for_others(call), not each.certain, index, each)
        for index, call in enumerate(reading.trace.calls)
        for each in _dataset(call, reading)
    ]
    for *_, index, each in sorted(found, key=lambda one: one[:3])[:1]:
        call = reading.trace.calls[index]
        lines = (*each.value.lines, *_configured(reading, call))
        value = replace(each.value, lines=tuple(dict.fromkeys(lines)))
        yield replace(
            each, value=value, reached=Reached.EXECUTED if runs(reading, call) else call.reached
        )


def _is_for_others(call: Call) -> bool:
    """What is called after an evaluation, or is a split for one: `load_dataset(…)["test"]`."""
    split = text_of(call.keywords.get("split")) or ""
    return (
        bool(_OTHER.search(call.target))
        or bool(_OTHER.match(split))
        or bool(_PART_FOR_OTHERS.search(call.line.text))
    )


def _configured(reading: Reading, call: Call) -> list[Evidence]:
    """Where a config names the class that loads it."""
    owner = call.within.partition(".")[0]
    named = [
        line for each in reading.trace.instances if each.of.name == owner for line in each.named
    ]
    return [line for line in named if not line.file.endswith(".py")][:1]


def _dataset(call: Call, reading: Reading) -> Iterator[Claim]:
    name = last_name(call.callee)
    if name == "load_dataset" and is_of(call.callee, "datasets", "nlp"):
        yield from _from_hub(call)
    elif name in _FOLDERS:
        yield from _folder(call, call.argument("root", 0) or call.argument("urls"))
    elif is_of(call.callee, *_LIBRARIES) and ".datasets" in f".{call.callee}":
        yield from _of_library(call, name, reading)
    elif is_of(call.callee, "ogb") and name.endswith("Dataset"):
        yield from claim("dataset", call.argument("name", 0), call)


def _of_library(call: Call, name: str, reading: Reading) -> Iterator[Claim]:
    if name in _NAMED:
        yield from claim("dataset", call.argument("name", 1), call)
    elif name == "ImageNet":
        yield from chosen_claim("dataset", "imagenet", call, reading)
    elif name == "CocoDetection":
        yield from chosen_claim("dataset", "coco", call, reading)
    elif name[:1].isupper() and name not in _NOT_SETS and is_direct(call.callee):
        yield from chosen_claim("dataset", name.lower(), call, reading)


def _from_hub(call: Call) -> Iterator[Claim]:
    """The builder's name with its configuration; files go by where they lie."""
    path, config = call.argument("path", 0), call.argument("name", 1)
    first, second = text_of(path), text_of(config)
    if path is None or first is None:
        return
    if first in _FILES:
        files = call.argument("data_files") or call.argument("data_dir")
        yield from _folder(call, first_of(files))
        return
    yield from claim("dataset", _together(path, first, config, second), call)


def _together(path: Value, first: str, config: Value | None, second: str | None) -> Value:
    if config is None or second is None or second.lower() in _PLAIN:
        return path
    if "/" in first and _LANGUAGE.fullmatch(second):
        return path
    base = first.rpartition("/")[2].lower()
    text = second if second.lower().startswith(base) else f"{first}/{second}"
    return Value(text, (*path.lines, *config.lines), path.source)


def _folder(call: Call, path: Value | None) -> Iterator[Claim]:
    """The last part of the path that is no mere split."""
    text = text_of(path)
    if path is None or text is None:
        return
    name = dataset_name(text)
    if name and not set(name) & set("{}*/$"):
        yield from claim("dataset", Value(name, path.lines, path.source), call, confidence=0.8)

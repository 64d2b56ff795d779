"""Lines that bear out what a job is for: what it says of itself, its losses, names it imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of, last_name, text_of
from schedmate.advisor.frameworks.task_words import CLASSES, tasks_in
from schedmate.advisor.interpret.python.values import Call
from schedmate.advisor.sources.files import evidence
from schedmate.model import Evidence

Hint = tuple[str, Evidence]
_HEAD = 25
_QUOTES = ('"""', "'''")
_PARSER = "ArgumentParser"
LABELS = re.compile(
    r"(?:^|\.)(?:CrossEntropyLoss|cross_entropy|nll_loss|NLLLoss|LabelSmoothing\w{0,20}|"
    r"SoftTargetCrossEntropy|softmax_cross_entropy\w{0,30}|SparseCategoricalCrossentropy|"
    r"CategoricalCrossentropy)$"
)
_PICTURES = re.compile(r"(?:^|\.)(?:ImageFolder|image_dataset_from_directory|flow_from_directory)$")
_GAMES = re.compile(
    r"^(?:gym|gymnasium|envpool|procgen)\..{0,40}(?:make|VectorEnv|make_vec)$|make_vec_env$"
    r"|^(?:stable_baselines3|sb3_contrib|sbx)\.[A-Z]\w{1,20}$"
)
_LEARNT = (
    *("image_classification", "sequence_classification", "segmentation", "object_detection"),
    *("speech", "gan", "graph", "diffusion", "other", "language_modeling", "tabular"),
)
_BYLABELS = ("image_classification", "sequence_classification", "segmentation")
_TABLES = re.compile(
    r"^pandas\.read_(?:csv|parquet|feather|excel|table|sql|hdf)$|^numpy\.(?:loadtxt|genfromtxt)$"
)
_TREES = re.compile(
    r"^(?:xgboost|lightgbm|catboost)\.(?:.{1,40}\.)?"
    r"(?:train|cv|fit|XGB\w{1,30}|LGBM\w{1,30}|CatBoost\w{1,30})$"
)
_COLLATORS = re.compile(r"DataCollatorFor(?:LanguageModeling|Completion\w{0,20}|WholeWordMask)$")
_COMPILES = re.compile(r"(?:Sequential|Model|Functional)\.compile$")
_LOSSES = re.compile(r"(?:^|\.)\w{1,40}Loss(?:es)?$")
_SIGNS = (
    *((task, LABELS) for task in _BYLABELS),
    ("image_classification", _PICTURES),
    ("reinforcement_learning", _GAMES),
    ("tabular", _TREES),
    ("tabular", _TABLES),
    ("language_modeling", _COLLATORS),
    *((task, pattern) for task in _LEARNT for pattern in (_COMPILES, _LOSSES)),
)
_LIBRARIES = {"image_classification": ("torchvision.datasets", "torchvision.models", "timm")}


def described(reading: Reading) -> Iterator[Hint]:
    """What the program says of itself: its parser's description, its first lines."""
    for call in reading.trace.calls:
        if last_name(call.callee).endswith(_PARSER):
            yield from _of_parser(call)
    source = reading.run.entry.source
    if source is not None:
        for number, text in _head(source.text):
            at = evidence(source.name, number, text)
            yield from ((task, at) for task in tasks_in("file", text))


def _of_parser(call: Call) -> Iterator[Hint]:
    for value in (call.argument("description", 2), call.argument("prog", 0)):
        text = text_of(value)
        if text is not None and value is not None:
            lines = value.lines[:1] or (call.line,)
            plain_data = chain(tasks_in("file", text), tasks_in("model", text))
            yield from ((task, line) for task in plain_data for line in lines)


def _head(text: str) -> Iterator[tuple[int, str]]:
    """The comments and the docstring that a file begins with."""
    inside = ""
    for number, line in enumerate(text[:4000].splitlines()[:_HEAD], 1):
        bare = line.strip()
        quote = next((each for each in _QUOTES if bare.lstrip("rRuU").startswith(each)), "")
        if not inside and not quote and bare and not bare.startswith("#"):
            return
        yield number, bare
        if inside:
            inside = "" if inside in bare else inside
        elif quote and bare.count(quote) == 1:
            inside = quote


def imported(reading: Reading) -> Iterator[Hint]:
    """Classes of libraries that are imported, and the job's own networks."""
    for each in reading.trace.imports:
        yield from ((task, each.line) for task, pattern in CLASSES if pattern.search(each.name))
    nearest = sorted(reading.trace.own_imports, key=lambda each: each.depth)
    own = [(each.name, each.line) for each in nearest]
    own += [(each.of.name, each.of.line) for each in reading.trace.instances]
    for name, line in own:
        yield from ((task, line) for task in tasks_in("model", last_name(name)))


def signs(reading: Reading, task: str) -> Iterator[Evidence]:
    """What fits the task, but would fit others as well."""
    patterns = [pattern for each, pattern in _SIGNS if each == task]
    for pattern in patterns:
        found = (call.line for call in reading.trace.calls if pattern.search(call.callee))
        yield from (line for line in [next(found, None)] if line is not None)
    for each in reading.trace.imports:
        if is_of(each.name, *_LIBRARIES.get(task, ())):
            yield each.line
            return

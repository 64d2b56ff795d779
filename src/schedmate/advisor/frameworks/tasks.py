"""What a job is for, by its settings, the classes it uses, its data, its model, its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, islice

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of, last_name, text_of
from schedmate.advisor.frameworks.keras_zoo import keras_datasets, keras_models
from schedmate.advisor.frameworks.own_models import is_network, own_models
from schedmate.advisor.frameworks.purposes import purpose
from schedmate.advisor.frameworks.starting_over import trains
from schedmate.advisor.frameworks.task_learning import (
    classes_of_its_own,
    layers,
    measures,
    numbers,
    own_data,
    shared_measures,
    tables,
    without_labels,
)
from schedmate.advisor.frameworks.task_signs import Hint, described, imported, signs
from schedmate.advisor.frameworks.task_words import CLASSES, LIBRARIES, tasks_in
from schedmate.advisor.frameworks.torch_datasets import datasets
from schedmate.advisor.frameworks.torch_models import models
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence

_TASK_OPTIONS = frozenset({"task", "task_type", "task_name", "training_type"})
_DATASET_OPTIONS = frozenset(
    {"dataset", "dataset_name", "data", "data_dir", "data_path", "dataset_path", "data_set"}
)
_MODEL_OPTIONS = frozenset(
    {"model", "model_name", "arch", "model_name_or_path", "model_type", "architecture", "net"}
)
_TWO_TEXTS = re.compile(r"ForSeq2SeqLM|ForConditionalGeneration|Seq2SeqTrainer")
_PLAYS_AGAINST = re.compile(r"discriminator|^netd$|^d_?net$", re.IGNORECASE)
_MAKES = re.compile(r"generator|^netg$|^g_?net$", re.IGNORECASE)
_UNSUPERVISED = re.compile(
    r"vae|auto_?encoder|simclr|moco|byol|siamese|simsiam|contrastive|self_?supervised|pixelcnn",
    re.IGNORECASE,
)
_ON_SUCH_PICTURES = ("segmentation", "diffusion", "gan", "other")
_STRONG, _GOOD, _FAIR, _WEAK, _LOW = 0.9, 0.8, 0.65, 0.5, 0.4
_LINES, _OF_A_KIND = 10, 2


def tasks(reading: Reading) -> Iterator[Claim]:
    """By the first kind of hint that speaks with one voice; a split one needs a later one's."""
    split: set[str] = set()
    for kind, confidence in _KINDS:
        if kind is shared_measures and not split:
            continue
        found: dict[str, Evidence] = {}
        for task, line in kind(reading):
            found.setdefault(task, line)
        if split:
            found = {task: line for task, line in found.items() if task in split}
        if len(found) == 1:
            task, line = found.popitem()
            lines = dict.fromkeys((line, *_borne_out(reading, task)))
            yield Claim(field="task", value=Value(task, (*lines,)[:_LINES]), confidence=confidence)
            return
        split = split or {*found}
    if not split:
        yield from _of_no_kind(reading)


def _of_no_kind(reading: Reading) -> Iterator[Claim]:
    """A training whose model is known, that was read as a whole, and in which nothing points to
    any kind of task."""
    if reading.trace.exhausted or reading.run.entry.source is None:
        return
    if next(chain(models(reading), keras_models(reading), own_models(reading)), None) is None:
        return
    steps = [call for call in reading.trace.calls if call.certain and trains(call)]
    if steps:
        lines = dict.fromkeys((steps[0].line, *_borne_out(reading, "other")))
        yield Claim(field="task", value=Value("other", (*lines,)[:_LINES]), confidence=_LOW)


def _borne_out(reading: Reading, task: str) -> Iterator[Evidence]:
    """The first lines of every kind that say the same."""
    for kind, _ in _KINDS:
        yield from islice((line for said, line in kind(reading) if said == task), _OF_A_KIND)
    yield from signs(reading, task)
    for each in chain(islice(models(reading), 1), own_models(reading)):
        yield from islice((each.line, *each.value.lines), _OF_A_KIND)
    made = (each for each in reading.trace.instances if each.depth == 0 and each.certain)
    yield from (each.line for each in made if is_network(each.of))
    yield from _settings(reading, _TASK_OPTIONS | _DATASET_OPTIONS | _MODEL_OPTIONS)


def _settings(reading: Reading, names: frozenset[str]) -> Iterator[Evidence]:
    """Where the job states its task, its data and its model, whatever it calls those."""
    for name, value in reading.options.items():
        named = _plain(name) in names or name.endswith("model.class_path")
        if named and text_of(value) is not None:
            yield from value.lines[:1]


def _stated(reading: Reading) -> Iterator[Hint]:
    for name, value in reading.options.items():
        if _plain(name) in _TASK_OPTIONS:
            yield from _hints("stated", value)


def _generative(reading: Reading) -> Iterator[Hint]:
    """Two networks against each other; classes that are called after noise."""
    classes = {each.name: each.line for each in reading.trace.classes}
    held = {each.name: each.line for each in reading.trace.bindings if not each.value.plain}
    names = classes | held
    makes = any(_MAKES.search(name) for name in names)
    against = next((name for name in names if _PLAYS_AGAINST.search(name)), None)
    if makes and against is not None:
        yield "gan", names[against]
    parts = _parts(reading)
    for name, line in classes.items():
        if name not in parts:
            yield from ((task, line) for task in tasks_in("noise", name))


def _parts(reading: Reading) -> set[str]:
    """Classes that are only ever made inside a network that has no such name: a layer may be
    called after what it does to a picture."""
    made: dict[str, set[str]] = {}
    for each in reading.trace.instances:
        made.setdefault(each.of.name, set()).add(each.within.partition(".")[0])
    networks = {cls.name for cls in reading.trace.classes if cls.inherits("nn.Module")}
    plain = {name for name in networks if not any(tasks_in("noise", name))}
    return {name for name, owners in made.items() if owners <= plain}


def _classes(reading: Reading) -> Iterator[Hint]:
    seen: set[str] = set()
    for call in reading.trace.calls:
        if call.callee in seen:
            continue
        seen.add(call.callee)
        for task, pattern in CLASSES:
            if pattern.search(call.callee):
                yield task, call.line
        if _TWO_TEXTS.search(call.callee) and "Whisper" not in call.callee:
            yield from ((task, call.line) for task in ("translation", "summarization"))


def _libraries(reading: Reading) -> Iterator[Hint]:
    for each in reading.trace.imports:
        for task, packages in LIBRARIES:
            if is_of(each.name, *packages):
                yield task, each.line


def _datasets(reading: Reading) -> Iterator[Hint]:
    """Pictures with boxes serve other ends as well: a model or a file that is for those decides."""
    found = [*_named_datasets(reading)]
    if {task for task, _ in found} == {"object_detection"}:
        others = [hint for hint in _models_and_files(reading) if hint[0] in _ON_SUCH_PICTURES]
        found = others or found
    yield from found


def _named_datasets(reading: Reading) -> Iterator[Hint]:
    for each in chain(datasets(reading), keras_datasets(reading)):
        yield from _hints("dataset", each.value, each.line)
    for name, value in reading.options.items():
        if _plain(name) in _DATASET_OPTIONS:
            yield from _hints("dataset", value)


def _models(reading: Reading) -> Iterator[Hint]:
    for each in chain(models(reading), keras_models(reading), own_models(reading)):
        yield from _hints("model", each.value, each.line)
    for name, value in reading.options.items():
        if _plain(name) in _MODEL_OPTIONS:
            yield from _hints("model", value)


def _unsupervised(reading: Reading) -> Iterator[Hint]:
    """Speaks with two voices on purpose: what such a job learns, its data does not tell."""
    named = [(each.of.name, each.of.line) for each in reading.trace.instances]
    named += [(reading.run.entry.name, line) for line in reading.run.command.evidence[:1]]
    for name, line in named:
        if _UNSUPERVISED.search(name):
            yield from (("other", line), ("unsupervised", line))


def _models_and_files(reading: Reading) -> Iterator[Hint]:
    """A classifier may be but a part of what the file is named after."""
    found, named = list(_models(reading)), list(_files(reading))
    if {task for task, _ in found} == {"image_classification"}:
        if without_labels(reading):
            found = [("other", line) for _, line in found]
        found = [] if named else found
    yield from (*found, *named)


def _files(reading: Reading) -> Iterator[Hint]:
    source = reading.run.entry.source
    folder = "" if source is None or source.path is None else source.path.parent.name
    named = (list(tasks_in("file", name)) for name in (reading.run.entry.name, folder))
    found = next((each for each in named if each), [])
    for line in reading.run.command.evidence[:1]:
        yield from ((task, line) for task in found if task != "tabular" or len(found) == 1)


def _hints(kind: str, value: Value, line: Evidence | None = None) -> Iterator[Hint]:
    text = text_of(value)
    at = [*value.lines, *([] if line is None else [line])]
    for task in tasks_in(kind, text) if text is not None else ():
        yield from ((task, each) for each in at)


def _plain(name: str) -> str:
    return last_name(name.lstrip("-").replace("-", "_").lower())


_KINDS: tuple[tuple[Callable[[Reading], Iterator[Hint]], float], ...] = (
    (purpose, _GOOD),
    (_stated, _STRONG),
    (_generative, _GOOD),
    (_classes, _STRONG),
    (classes_of_its_own, _GOOD),
    (_libraries, _GOOD),
    (_unsupervised, _FAIR),
    (_datasets, _GOOD),
    (own_data, _FAIR),
    (_models_and_files, _FAIR),
    (measures, _FAIR),
    (shared_measures, _WEAK),
    (imported, _FAIR),
    (described, _FAIR),
    (layers, _FAIR),
    (tables, _WEAK),
    (numbers, _WEAK),
)
"""The most telling first."""

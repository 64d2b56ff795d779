"""Where a hand-written loop saves, how often, and whether it picks up from there by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.idioms.base import Reading, Said
from schedmate.advisor.idioms.calls import (
    agreed,
    calls_of,
    implied,
    is_of,
    last_name,
    number_of,
    said,
    text_of,
    truth_of,
    words,
)
from schedmate.advisor.python.values import UNKNOWN, Begun, Call, Table, Value

_SAVES = ("torch.save", "save_state", "save_checkpoint", "save_pretrained", "checkpoint.save")
_FILE = re.compile(r"\.(?:pt|pth|ckpt|tar|bin|pkl|safetensors|model|th)\b|\{|%")
_NO_CHECKPOINT = re.compile(
    r"feat|embed|pred|result|output|vocab|dataset|cache|tensor|mask|loss|logit|metric|stats?\b",
    re.IGNORECASE,
)
_RESUMING = re.compile(r"resum|checkpoint|ckpt|snapshot|latest|last|start", re.IGNORECASE)
_EPOCH = re.compile(r"\bfor\b.{0,60}epoch", re.IGNORECASE)
_STOPPING = re.compile(r"early_?stop", re.IGNORECASE)
_QUESTIONS = ("path.exists", "path.isfile", "path.isdir", "Path.exists", "Path.is_file", "glob")
_NEAR = 8
_BY_ITSELF = words("auto_resume autoresume resume_if_exists resume_auto")


def saving(reading: Reading) -> Iterator[Said]:
    saves = [call for call in calls_of(reading, *_SAVES) if _is_checkpoint(call)]
    yield from agreed(each for call in saves for each in _directory(call))
    rhythms = [call for call in saves if (number_of(call.every) or 0) > 0]
    yield from agreed(
        each
        for call in rhythms
        for each in said("checkpoint_every", call.every, call, confidence=0.9)
    )
    if not rhythms:
        yield from agreed(
            each
            for call in saves
            if _ends_every_epoch(reading, call)
            for each in implied("checkpoint_every", 1, call, confidence=0.85)
        )


def _ends_every_epoch(reading: Reading, call: Call) -> bool:
    """Whether it stands in the loop over epochs, and in no other, with nothing to stop it."""
    loops = [reading.trace.loops[i] for i in call.loops if i < len(reading.trace.loops)]
    innermost = loops[-1] if loops else None
    return call.certain and innermost is not None and _EPOCH.search(innermost.line.text) is not None


def resuming(reading: Reading) -> Iterator[Said]:
    """A load that certainly happens, or one that only waits for the file to be there."""
    yield from _by_option(reading)
    state = _loads_more_than_weights(reading)
    for call in calls_of(reading, "torch.load", "load_state", "load_checkpoint"):
        about = f"{call.within} {call.target} {call.line.text}"
        if call.loops or not _RESUMING.search(about):
            continue
        if (state and (call.certain or _waits(reading, call))) or _is_its_own(reading, call):
            yield from implied("resumes", True, call, confidence=0.75, certain=True)
            return


def _is_its_own(reading: Reading, load: Call) -> bool:
    """Whether it asks for the very file that it writes, and loads it where it is there."""
    path = text_of(load.argument("f", 0))
    asked = any(
        question.certain and text_of(question.argument("path", 0)) == path
        for question in calls_of(reading, *_QUESTIONS)
    )
    return bool(path) and asked and any(text_of(_path(s)) == path for s in _saves(reading))


def _saves(reading: Reading) -> Iterator[Call]:
    return calls_of(reading, "torch.save")


def _by_option(reading: Reading) -> Iterator[Said]:
    for name, value in reading.options.items():
        word = last_name(name).lower().replace("-", "_")
        if word in _BY_ITSELF and truth_of(value) is True:
            yield Said(field="resumes", value=Value(True, value.lines, value.source))
            return


def _waits(reading: Reading, load: Call) -> bool:
    """Whether the load stands right below a question for the file that is surely asked."""
    return any(
        asked.certain
        and asked.within == load.within
        and asked.line.file == load.line.file
        and 0 <= load.line.line - asked.line.line <= _NEAR
        for asked in calls_of(reading, *_QUESTIONS)
    )


def stopping_early(reading: Reading) -> Iterator[Said]:
    """A thing made of a class that is called so; a schedule's patience is no such thing."""
    for call in reading.trace.calls:
        if _STOPPING.search(last_name(call.callee)) and not is_of(call.callee, "keras"):
            yield from implied("early_stopping", True, call, confidence=0.9)
            return
    for binding in reading.trace.bindings:
        data = binding.value.data
        if isinstance(data, Table) and data.of is not None and _STOPPING.search(data.of.name):
            value = Value(True, (binding.line,))
            yield from said("early_stopping", value, binding, confidence=0.9)
            return


def _loads_more_than_weights(reading: Reading) -> bool:
    """Whether an optimiser takes up its state: else it is a pretrained model."""
    return any(
        "optim" in call.callee.lower() or "Scaler" in call.callee
        for call in calls_of(reading, "load_state_dict")
    )


def _is_checkpoint(call: Call) -> bool:
    words = f"{call.target} {text_of(_path(call)) or ''} {last_name(call.within)}"
    return not _NO_CHECKPOINT.search(words)


def _path(call: Call) -> Value | None:
    if last_name(call.callee) == "save" and is_of(call.callee, "torch"):
        return call.argument("f", 1)
    for name in ("output_dir", "save_directory", "save_dir", "checkpoint_id", "path"):
        if name in call.keywords:
            return call.keywords[name]
    return call.argument("save_dir", 0)


def _directory(call: Call) -> Iterator[Said]:
    """The directory of the file that is written; a bare file name is no directory."""
    path = _path(call)
    if isinstance(path, Begun):
        known = Value(path.directory or UNKNOWN, path.lines, path.source)
        yield from said("checkpoint_dir", known, call, confidence=0.85)
        return
    text = text_of(path)
    if path is None or not text:
        return
    place = str(PurePosixPath(text).parent) if _FILE.search(PurePosixPath(text).name) else text
    if place not in (".", "/"):
        value = Value(place, path.lines, path.source)
        yield from said("checkpoint_dir", value, call, confidence=0.9)

"""Where a hand-written loop saves, and how often."""

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
)
from schedmate.advisor.python.values import UNKNOWN, Begun, Call, Value

_SAVES = (
    *("torch.save", "save_state", "save_checkpoint", "save_pretrained", "checkpoint.save"),
    *("numpy.savez", "numpy.savez_compressed"),
)
_FILE = re.compile(r"\.(?:pt|pth|ckpt|tar|bin|pkl|safetensors|model|th)\b|\{|%")
_NO_CHECKPOINT = re.compile(
    r"feat|embed|pred|result|output|vocab|dataset|cache|tensor|mask|loss|logit|metric|stats?\b|"
    r"\beval(?:uations?)?\b",
    re.IGNORECASE,
)
_OVER_FILES = re.compile(r"\bfor\b.{0,30}(?:path|ckpt|checkpoint|file)", re.IGNORECASE)
_EPOCH = re.compile(r"\bfor\b.{0,60}epoch", re.IGNORECASE)


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
    loops = [loop for loop in loops if not _OVER_FILES.search(loop.line.text)]
    innermost = loops[-1] if loops else None
    return call.certain and innermost is not None and _EPOCH.search(innermost.line.text) is not None


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

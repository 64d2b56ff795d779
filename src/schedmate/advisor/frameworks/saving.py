"""What a hand-written training writes: its checkpoints, how often, and its log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    calls_of,
    claim,
    is_of,
    last_name,
    number_of,
    text_of,
)
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Loop
from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Call, KnownPrefix, Value
from schedmate.advisor.settle.claim import Claim

_SAVES = (
    *("torch.save", "save_state", "save_checkpoint", "save_pretrained", "checkpoint.save"),
    *("numpy.savez", "numpy.savez_compressed"),
)
_FILE = re.compile(r"\.(?:pt|pth|ckpt|tar|bin|pkl|safetensors|model|th)\b|\{|%")
_NO_CHECKPOINT = re.compile(
    r"feat|embed|pred|result|output|vocab|dataset|cache|tensor|mask|loss|logit|metric|stats?\b",
    re.IGNORECASE,
)
_OF_AN_EVALUATION = re.compile(r"(?:^|/)(?:eval(?:uations?)?|preds?|predictions)/[^/]{0,200}$")
_OVER_FILES = re.compile(r"\bfor\b.{0,30}(?:path|ckpt|checkpoint|file)", re.IGNORECASE)
_EPOCH = re.compile(r"\b(?:for|while)\b.{0,60}epoch", re.IGNORECASE)


def saving(reading: Reading) -> Iterator[Claim]:
    saves = [call for call in calls_of(reading, *_SAVES) if _is_checkpoint(call)]
    yield from _directories(saves)
    rhythms = [call for call in saves if (number_of(call.every) or 0) > 0]
    yield from agreed(
        each
        for call in rhythms
        for each in claim("checkpoint_every", call.every, call, confidence=0.9)
    )
    if not rhythms:
        yield from agreed(
            each
            for call in saves
            for loop in _ended_by(reading, call)
            for each in claim(
                "checkpoint_every", Value(1, (loop.line, call.line)), call, confidence=0.85
            )
        )


def _directories(saves: list[Call]) -> Iterator[Claim]:
    """Of the saves in a loop: what is written before and after a training is something else. What
    stands in a file that the job only imports counts where it is called."""
    near = [call for call in saves if call.depth == 0 or call.reached > Reached.UNCALLED]
    looped = [call for call in near if call.loops]
    if not any(call.certain for call in looped):
        looped = [_once(call) for call in looped]
    inside = [each for call in looped for each in _directory(call)]
    yield from agreed(inside or (each for call in near for each in _directory(call)))


def _once(call: Call) -> Call:
    """A save that waits for a better result comes sooner or later."""
    undecided = call.reached is Reached.UNDECIDED
    return replace(call, reached=Reached.EXECUTED) if undecided else call


def _ended_by(reading: Reading, call: Call) -> Iterator[Loop]:
    """The loop over epochs, if it stands in that and in no other, with nothing to stop it."""
    loops = [reading.trace.loops[i] for i in call.loops if i < len(reading.trace.loops)]
    loops = [loop for loop in loops if not _OVER_FILES.search(loop.line.text)]
    if call.certain and loops and _EPOCH.search(loops[-1].line.text):
        yield loops[-1]


def _is_checkpoint(call: Call) -> bool:
    path = _path(call)
    place = (path.begins if isinstance(path, KnownPrefix) else text_of(path)) or ""
    words = f"{call.target} {place.rpartition('/')[2]} {last_name(call.within)}"
    return not _NO_CHECKPOINT.search(words) and not _OF_AN_EVALUATION.search(place)


def _path(call: Call) -> Value | None:
    if last_name(call.callee) == "save" and is_of(call.callee, "torch"):
        return call.argument("f", 1)
    for name in ("output_dir", "save_directory", "save_dir", "checkpoint_id", "path"):
        if name in call.keywords:
            return call.keywords[name]
    return call.argument("save_dir", 0)


def _directory(call: Call) -> Iterator[Claim]:
    """The directory of the file that is written; a bare file name is no directory."""
    path = _path(call)
    if isinstance(path, KnownPrefix):
        begins = (path.directory or "").removesuffix("/.")
        known = Value(begins or UNKNOWN_DATA, path.lines, path.source)
        yield from claim("checkpoint_dir", known, call, confidence=0.85)
        return
    text = text_of(path)
    if path is None or not text:
        return
    names_a_file = call.callee == "torch.save" or _FILE.search(PurePosixPath(text).name)
    place = (text.rpartition("/")[0] if names_a_file else text).rstrip("/").removesuffix("/.")
    if place not in ("", "."):
        value = Value(place, path.lines, path.source)
        yield from claim("checkpoint_dir", value, call, confidence=0.9)


_LOG = re.compile(
    r"(?:^|[/_.-])(?:log|logs|train_?log|training_?log|stats|stdout|history)\.(?:txt|log|jsonl|csv)$"
    r"|\.log$|(?:^|[/_.-])(?:\w{0,30}_)?(?:loss|losses|metrics)(?:_\w{0,30})?\.(?:txt|jsonl|csv)$"
)
_KEPT = re.compile(r"\.(?:csv|log|txt|jsonl|tsv)$")
_HANDLERS = ("FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler")


def logging_to_files(reading: Reading) -> Iterator[Claim]:
    """`logging.FileHandler(path)`, `logging.basicConfig(filename=path)`, loguru's `add(path)`."""
    for call in calls_of(reading, *_HANDLERS, "basicConfig", "logger.add"):
        if not call.certain or not is_of(call.callee, "logging", "loguru"):
            continue
        place = None if call.callee.endswith("basicConfig") else 0
        path = call.argument("filename", place) or call.argument("sink")
        if text_of(path):
            yield from claim("log_files", path, call, confidence=0.85)
            return
    yield from (*_by_hand(reading), *_by_own_loggers(reading))


def _by_own_loggers(reading: Reading) -> Iterator[Claim]:
    """`CSVLogger(columns, "logs/fold0.csv")` of a class of the job's own."""
    for each in reading.trace.instances:
        if each.certain and each.of.name.endswith("Logger"):
            paths = (one for one in each.arguments.values() if _KEPT.search(text_of(one) or ""))
            yield from claim("log_files", next(paths, None), each, confidence=0.75)
            return


def _by_hand(reading: Reading) -> Iterator[Claim]:
    """`open(os.path.join(out, "log.txt"), "a")` by the process that writes for all."""
    for call in calls_of(reading, "open"):
        path, mode = call.argument("file", 0), text_of(call.argument("mode", 1)) or ""
        if call.certain and mode[:1] in ("a", "w") and _LOG.search(text_of(path) or ""):
            yield from claim("log_files", path, call, confidence=0.8)
            return

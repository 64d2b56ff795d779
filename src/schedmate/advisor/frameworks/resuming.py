"""Whether a job that is requeued as it stands goes on from the newest checkpoint that it saved.

It does if what it loads at the start is the newest of its own saves, if this command takes the
branch that loads, and if what is loaded says how far the training was. Where one of the three is
not known nothing is claimed. A load that is left out, or of one file that somebody named, says
that it does not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, claim, last_name, text_of, truth_of
from schedmate.advisor.frameworks.starting_over import LOADS, trains
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Binding, Skipped
from schedmate.advisor.interpret.python.values import (
    Call,
    IfPresent,
    KnownPrefix,
    LibraryObject,
    Value,
)
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_SAVES = {
    "torch.save": 1,
    "save_checkpoint": 0,
    "save_state": 0,
    "numpy.save": 0,
    "numpy.savez": 0,
    "numpy.savez_compressed": 0,
    "save_weights": 0,
    "pickle.dump": 1,
    "joblib.dump": 1,
    "checkpoint.save": 1,
    "CheckpointManager.save": 0,
    "Fabric.save": 0,
    "save": 0,
}
"""What writes a state, and where it is told the place."""
_MOVES = {"os.replace": 1, "os.rename": 1, "shutil.move": 1, "rename": 0, "replace": 0}
"""What gives a file that was written as a whole its name."""
_WHOLE = re.compile(r"[._-](?:te?mp|part|partial|new)$")
"""What a file is called until it is whole; it is renamed then, however that is written."""
_STATES = ("torch.load", "load_state", "load_checkpoint", "checkpoint.load", "Fabric.load")
_FILES = ("numpy.load", "pickle.load", "joblib.load", "load_weights", "load_model", "load")
_RESTORES = ("restore", "restore_or_initialize", "restore_checkpoint")
_LATEST = re.compile(r"latest|last_?ch?e?c?kp", re.IGNORECASE)
_COUNTER = re.compile(
    r"(?:^|_)(?:epochs?|steps?|iters?|iterations?|itr|rounds?|updates?|batch(?:es)?|episodes?|it)"
    r"(?:_run|_idx|_num|_done|_completed|_offset|_start|_trained)?$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[\"'](?:\w*_)?(?:epoch|steps?|iter|iteration|itr|round|update|batch|episode)"
    r"(?:s_run|_idx|_num)?[\"']",
    re.IGNORECASE,
)
_NO_COUNTER = re.compile(
    r"best|max|total|warmup|per_|time|train_iter|val_|num_steps", re.IGNORECASE
)
_LOADED = re.compile(
    r"load|resum|restor|ckpt|checkpoint|snapshot|state|int\(.*(?:split|replace|stem|name|group)",
    re.IGNORECASE,
)
_ADDED = re.compile(r"[-+]=")
_CLOCK = re.compile(r"\$\(date|`date|strftime|\bnow\(|\btime\(\)|\btoday\(")
_LISTS = re.compile(
    r"\bi?glob\(|\biterdir\(|\blistdir\(|\bscandir\(|get_last_checkpoint|latest_checkpoint"
    r"|find_(?:latest|last)|(?:latest|last)_?(?:checkpoint|ckpt)\w*\("
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_STEPS = 4
_CHOSEN = re.compile(r"resum|restart|continue|\bcont\b|start_?epoch")
_PERHAPS_CHOSEN = re.compile(r"checkpoint|ckpt|restore|load")
_FOR_OTHERS = re.compile(
    r"pretrain|finetune|fine_tune|(?<!la)test|eval|infer|teacher|backbone|init"
)
_BY_ITSELF = words("auto_resume autoresume resume_if_exists resume_auto")
_ANEW = re.compile(
    r"(?:^|_)(?:force_?)?restart$|force_(?:new|fresh|retrain)|no_(?:auto_?)?resume$|from_scratch$"
    r"|start_over$|fresh(?:_start)?$|ignore_(?:checkpoint|ckpt)s?$"
)
_NEWEST = words("last latest auto hpc")
_PATHS = ("f", "file", "path", "filepath", "load_dir", "save_dir", "input_dir", "output_dir")


@dataclass(frozen=True)
class _Job:
    """What is written, and where the training begins."""

    reading: Reading

    @cached_property
    def order(self) -> dict[int, int]:
        return {id(call): place for place, call in enumerate(self.reading.trace.calls)}

    @cached_property
    def saves(self) -> list[tuple[Call, Value | None]]:
        """With the place of each; data that took long to make is written once, where missing."""
        return [
            (call, _path(call, at))
            for name, at in _SAVES.items()
            for call in calls_of(self.reading, name)
            if call.reached > Reached.UNCALLED
            and not (call.if_there and not call.certain and not call.loops)
        ]

    @cached_property
    def moves(self) -> list[tuple[Call, Value | None]]:
        return [
            (call, call.argument("dst", at))
            for name, at in _MOVES.items()
            for call in calls_of(self.reading, name)
            if call.reached > Reached.UNCALLED
        ]

    @cached_property
    def begins(self) -> int:
        steps = (
            self.order[id(call)]
            for call in self.reading.trace.calls
            if call.reached > Reached.UNCALLED and trains(call)
        )
        return next(steps, len(self.order))

    def written_after(self, load: Call) -> Call | None:
        """None where the training is over: what is loaded then is the best of it."""
        later = (call for call, _ in self.saves if self.order[id(call)] > self.order[id(load)])
        return max(later, key=lambda call: len(call.loops), default=None)

    def writer_of(self, path: Value | None) -> Call | None:
        """The call that writes to a place, or to the directory of it."""
        if isinstance(path, IfPresent):
            path = path.there
        for alike in (_place, _directory):
            place = alike(path)
            for call, written in (*self.saves, *self.moves):
                if place and place in (found := alike(written), _WHOLE.sub("", str(found))):
                    return call
        return None


def resuming(reading: Reading) -> Iterator[Claim]:
    job = _Job(reading)
    found = next(_told_to_begin_anew(reading), None) or next(_by_itself(job), None)
    found = found or next(_by_option(reading), None) or next(_not_at_all(reading), None)
    if found is not None:
        yield found


def _told_to_begin_anew(reading: Reading) -> Iterator[Claim]:
    for name, value in reading.options.items():
        if _ANEW.search(_word(name)) and truth_of(value) is True and value.source != "code":
            yield Claim(field="resumes", value=Value(False, value.lines, value.source))


def _by_option(reading: Reading) -> Iterator[Claim]:
    """`--auto-resume`, `--resume latest`."""
    if _is_dated(reading):
        return
    for name, value in reading.options.items():
        switched = _word(name) in _BY_ITSELF and truth_of(value) is True
        if switched or ("resum" in _word(name) and value.plain and value.data in _NEWEST):
            yield Claim(field="resumes", value=Value(True, value.lines, value.source))


def _word(name: str) -> str:
    return last_name(name.lstrip("-")).lower().replace("-", "_")


def _by_itself(job: _Job) -> Iterator[Claim]:
    """A load before the training that happens, or only waits for a file to be there."""
    for call in calls_of(job.reading, *_STATES, *_FILES, *_RESTORES):
        if job.order[id(call)] > job.begins or not _may_happen(call):
            continue
        if call.loops and not call.callee.endswith("torch.load"):
            continue
        if not _says_how_far(job.reading, call):
            continue
        own, writer = _is_own(job, call)
        if own:
            lines = (call.line, *(() if writer is None else (writer.line,)))
            value = Value(data=True, lines=lines)
            yield Claim(field="resumes", value=value, confidence=0.75, depth=call.depth)


def _may_happen(call: Call) -> bool:
    """Where a branch is open, only a file may decide."""
    if call.reached <= Reached.UNCALLED:
        return False
    return call.if_there or isinstance(_path(call, 0), IfPresent) or _takes_the_latest(call)


def _takes_the_latest(call: Call) -> bool:
    """`if manager.latest_checkpoint: checkpoint.restore(manager.latest_checkpoint)`."""
    return last_name(call.callee) in _RESTORES and _LATEST.search(call.line.text) is not None


def _is_own(job: _Job, call: Call) -> tuple[bool, Call | None]:
    """Whether the newest of what the job itself writes is loaded, and what writes it."""
    path, name = _path(call, 0), last_name(call.callee)
    later = job.written_after(call)
    if _is_dated(job.reading, path) or (job.saves and later is None):
        return False, None
    writer = job.writer_of(path)
    if writer is not None:
        return True, writer
    if name in _RESTORES:
        return name != "restore" or _takes_the_latest(call), later
    there = path.there if isinstance(path, IfPresent) else path
    if there is not None and (there.plain or _place(there)):
        return False, None
    state = f".{call.callee}".endswith(tuple(f".{each}" for each in _STATES))
    return state and later is not None and _is_looked_for(job.reading, call), later


def _is_looked_for(reading: Reading, call: Call) -> bool:
    """Whether an unknown file is one of the disk, not what a setting may name."""
    if isinstance(_path(call, 0), IfPresent) or not call.certain:
        return True
    return _is_picked(reading, call.line.text)


def _says_how_far(reading: Reading, call: Call) -> bool:
    """Whether an epoch or a step is taken up, or a library restores its own counter."""
    if last_name(call.callee) in _RESTORES or call.callee.endswith("Fabric.load"):
        return True
    return any(_is_counter(each, call.target) for each in reading.trace.bindings)


def _is_counter(binding: Binding, loaded: str) -> bool:
    name, text = binding.name, binding.line.text
    if binding.value.plain or binding.reached <= Reached.UNCALLED or _ADDED.search(text):
        return False
    if _NO_COUNTER.search(name):
        return False
    if _COUNTED.search(text):
        return True
    of_load = bool(loaded) and re.search(rf"=.*\b{re.escape(loaded)}\b", text) is not None
    return _COUNTER.search(name) is not None and (of_load or _LOADED.search(text) is not None)


def _is_dated(reading: Reading, path: Value | None = None) -> bool:
    """Whether each run has a directory of its own, called after the time at which it starts."""
    lines = () if path is None else path.lines
    texts = (*(word.text for word in reading.run.arguments), *(line.text for line in lines))
    return any(_CLOCK.search(text) for text in texts)


def _path(call: Call, at: int) -> Value | None:
    """The file or directory that is read or written, out of `open(…)`."""
    value = next((call.keywords[name] for name in _PATHS if name in call.keywords), None)
    value = value or call.argument("path", at)
    if (
        value is not None
        and isinstance(value.data, LibraryObject)
        and value.data.kind.endswith("open")
    ):
        return value.data.call.argument("file", 0)
    return value


def _place(path: Value | None) -> object:
    """What two paths must share to be the same; a beginning alone is that of many."""
    if isinstance(path, KnownPrefix):
        return f"{path.begins}… {path.lines[:1]}"
    if path is not None and isinstance(path.data, LibraryObject):
        return id(path.data.call)
    text = text_of(path)
    return str(PurePosixPath(text)) if text else ""


def _directory(path: Value | None) -> str:
    """Where one of several files lies whose names are not known."""
    return f"{path.directory}/…" if isinstance(path, KnownPrefix) and path.directory else ""


def _not_at_all(reading: Reading) -> Iterator[Claim]:
    """A load that is left out because of a setting that says so."""
    if any("resum" in name.lower() and truth_of(value) for name, value in reading.options.items()):
        return
    for skipped in reading.trace.skipped:
        if skipped.certain and truth_of(skipped.value) is False and _would_resume(skipped):
            value = Value(False, skipped.value.lines or (skipped.line,), skipped.value.source)
            yield from claim("resumes", value, skipped, confidence=0.7)


def _would_resume(skipped: Skipped) -> bool:
    asked = ast.unparse(skipped.test)[:200].lower()
    if _FOR_OTHERS.search(asked):
        return False
    calls = [
        part.func
        for statement in skipped.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Call)
    ]
    names = {getattr(called, "id", getattr(called, "attr", "")) for called in calls}
    if not names & LOADS:
        return False
    whole = any("optim" in ast.unparse(called)[:200] for called in calls)
    return bool(_CHOSEN.search(asked) or (whole and _PERHAPS_CHOSEN.search(asked)))


def trainer_resumes(reading: Reading) -> Iterator[Claim]:
    """`trainer.train(resume_from_checkpoint=…)`, `trainer.fit(…, ckpt_path=…)`."""
    over = next(_writes_over(reading), None)
    if over is not None and _can_look(reading):
        value = Value(False, over.lines, over.source)
        yield Claim(field="resumes", value=value, confidence=0.85)
        return
    for call in calls_of(reading, "train", "fit"):
        given = call.keywords.get("resume_from_checkpoint", call.keywords.get("ckpt_path"))
        if given is None or "Trainer" not in call.callee or call.reached <= Reached.UNCALLED:
            continue
        newest = _is_newest(reading, call, given)
        if newest is not None:
            value = Value(newest, given.lines or (call.line,), given.source)
            yield from claim("resumes", value, call, certain=newest or call.certain)
            return


def _is_newest(reading: Reading, call: Call, given: Value) -> bool | None:
    """Of the trainer's own checkpoints; one that somebody named stays the same after a requeue."""
    if _is_dated(reading, given):
        return None
    if isinstance(given, IfPresent):
        return True
    if given.data is True:
        return True if call.if_there else None
    if isinstance(given.data, str) and truth_of(given):
        return given.data in _NEWEST or _is_last_of(reading, PurePosixPath(given.data))
    if given.plain:
        return False
    return True if _is_picked(reading, call.line.text) else None


def _is_last_of(reading: Reading, path: PurePosixPath) -> bool:
    """`last.ckpt` of the directory that the checkpoints are written to."""
    places = (call.keywords.get("dirpath") for call in calls_of(reading, "ModelCheckpoint"))
    return path.stem == "last" and str(path.parent) in {
        str(PurePosixPath(text)) for place in places if (text := text_of(place))
    }


def _is_picked(reading: Reading, text: str) -> bool:
    """Whether the lines that name a file pick it from a directory's listing."""
    texts: dict[str, str] = {}
    for each in reading.trace.bindings:
        if each.reached > Reached.UNCALLED and not each.value.plain:
            texts[each.name] = f"{texts.get(each.name, '')} {each.line.text}"
    for _ in range(_MOST_STEPS):
        if _LISTS.search(text):
            return True
        text = " ".join(texts.pop(name) for name in _NAME.findall(text) if name in texts)
    return False


def _can_look(reading: Reading) -> bool:
    return any(last_name(each.name) == "get_last_checkpoint" for each in reading.trace.imports)


def _writes_over(reading: Reading) -> Iterator[Value]:
    """The setting that keeps a program from looking for the last checkpoint of its output."""
    named = {_word(name): each for name, each in reading.options.items()}
    over, given = named.get("overwrite_output_dir"), named.get("resume_from_checkpoint")
    if over is not None and truth_of(over) is True and not (given is not None and truth_of(given)):
        yield over

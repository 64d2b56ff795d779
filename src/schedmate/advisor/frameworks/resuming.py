"""Whether a job picks up by itself from where an earlier run of it stopped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    implied_claim,
    last_name,
    text_of,
    truth_of,
)
from schedmate.advisor.frameworks.newest_file import listed_directory
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Skipped
from schedmate.advisor.interpret.python.values import (
    Call,
    IfPresent,
    KnownPrefix,
    LibraryObject,
    Value,
)
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_STATES = ("torch.load", "load_state", "load_checkpoint", "checkpoint.load", "Fabric.load")
_FILES = ("numpy.load", "pickle.load", "joblib.load", "load_weights", "load_model", "load")
_RESTORES = ("restore", "restore_or_initialize", "restore_checkpoint")
_RESUMING = re.compile(r"resum|checkpoint|ckpt|snapshot|latest|last|start", re.IGNORECASE)
_LATEST = re.compile(r"latest|last_?ch?e?c?kp", re.IGNORECASE)
_CHOSEN = re.compile(r"resum|restart|continue|\bcont\b|start_?epoch")
_PERHAPS_CHOSEN = re.compile(r"checkpoint|ckpt|restore|load")
_FOR_OTHERS = re.compile(
    r"pretrain|finetune|fine_tune|(?<!la)test|eval|infer|teacher|backbone|init"
)
_LOADS = words(
    "load load_state_dict load_checkpoint load_state restore restore_checkpoint load_weights "
    "load_model load_from_checkpoint resume load_ckpt resume_checkpoint load_training_state "
    "resume_from_checkpoint load_snapshot"
)
_FIGURE = re.compile(
    r"(?:^|_)(?:best|min|max|loss|acc|accuracy|score|metric)s?(?:_|$)", re.IGNORECASE
)
_TAKES_UP = re.compile(r"model|net|optim|sched|agent|policy|weight|param", re.IGNORECASE)
_BY_ITSELF = words("auto_resume autoresume resume_if_exists resume_auto")
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
    "save": 0,
}
_OF_DATA = re.compile(r"data|target|label|cache|feat|embed|vocab|token|split|index", re.IGNORECASE)
_WHOLE_STATES = ("load_state", "Fabric.load")
"""They take up model, optimiser and counters at once."""
_PATHS = ("f", "file", "path", "filepath", "load_dir", "save_dir", "input_dir", "output_dir")


def resuming(reading: Reading) -> Iterator[Claim]:
    found = next(_by_option(reading), None) or next(_by_itself(reading), None)
    if found is None:
        found = next(_not_at_all(reading), None)
    if found is not None:
        yield found


def _by_option(reading: Reading) -> Iterator[Claim]:
    for name, value in reading.options.items():
        word = last_name(name).lower().replace("-", "_")
        if word in _BY_ITSELF and truth_of(value) is True:
            yield Claim(field="resumes", value=Value(True, value.lines, value.source))


def _by_itself(reading: Reading) -> Iterator[Claim]:
    """A load that certainly happens, or only waits for the file to be there."""
    order = {id(call): at for at, call in enumerate(reading.trace.calls)}
    saves = [(call, at) for name, at in _SAVES.items() for call in calls_of(reading, name)]
    has_state = _loads_more_than_weights(reading)
    sets = {cls.name for cls in reading.trace.classes if cls.inherits("Dataset", "IterableDataset")}
    for call in calls_of(reading, *_STATES, *_FILES, *_RESTORES):
        if _reads_a_figure(reading, call):
            continue
        if not (call.if_there or _takes_the_latest(call)) or call.loops:
            continue
        if (_family(call) and _loads_data(call)) or call.within.partition(".")[0] in sets:
            continue
        alike = [each for each in saves if _family(each[0]) == _family(call)]
        later = [each for each in alike if order[id(each[0])] > order[id(call)]]
        if len(later) < len(alike) and not any(each.loops for each, _ in later):
            continue  # the training is over: this is the best of it
        kept = [_written(each, at) for each, at in saves if not _is_cache(each)]
        saved = {_place(path) for path in kept} | {_directory(path) for path in kept}
        newest = "" if call.certain else listed_directory(reading, call)
        if (newest and newest in _directories(kept)) or _picks_up(call, has_state, saved - {""}):
            yield from implied_claim("resumes", True, call, confidence=0.75, certain=True)


def _reads_a_figure(reading: Reading, call: Call) -> bool:
    """`best = torch.load(path)["loss"]`: the state is there, but nothing takes it up."""
    if not call.callee.endswith("torch.load"):
        return False
    if _FIGURE.search(call.target):
        return True
    if not call.target or _TAKES_UP.search(call.target) or _takes_up_states(reading):
        return False
    handed_on = any(
        isinstance(given.data, LibraryObject) and given.data.call is call
        for each in reading.trace.calls
        for given in (*each.positional, *each.keywords.values())
    )
    figures = (each for each in reading.trace.bindings if _FIGURE.search(each.name))
    return not handed_on and any(not each.value.known for each in figures)


def _takes_up_states(reading: Reading) -> bool:
    return next(iter(calls_of(reading, "load_state_dict")), None) is not None


def _takes_the_latest(call: Call) -> bool:
    """`if manager.latest_checkpoint: checkpoint.restore(manager.latest_checkpoint)`."""
    may_run = call.reached is Reached.UNDECIDED and last_name(call.callee) in _RESTORES
    return may_run and "latest_checkpoint" in call.line.text


def _is_cache(save: Call) -> bool:
    """Written once, and only where it is not there yet: data that took long to make."""
    return save.if_there and not save.certain and not save.loops


def _family(call: Call) -> str:
    """The library that reads and writes such files."""
    head = call.callee.partition(".")[0]
    return head if head in ("numpy", "pickle", "joblib") else ""


def _loads_data(call: Call) -> bool:
    """Arrays and pickled objects that are called after what a training reads, not keeps."""
    path = _written(call, 0)
    name = path.begins if isinstance(path, KnownPrefix) else text_of(path) or ""
    about = f"{PurePosixPath(name).name} {call.target}"
    return bool(_OF_DATA.search(about))


def _picks_up(call: Call, has_state: bool, saved: set[str]) -> bool:  # noqa: FBT001 - a fact
    name = last_name(call.callee)
    if name in _RESTORES:
        return name != "restore" or _LATEST.search(call.line.text) is not None
    path = _written(call, 0)
    if isinstance(path, IfPresent) or (_place(path) in saved and _place(path)):
        return True
    if not call.certain and _directory(path) in saved:
        return True  # the newest of those that the training writes there
    about = f"{call.within} {call.target} {call.line.text}"
    whole = f".{call.callee}".endswith(tuple(f".{each}" for each in _STATES))
    has_state = has_state or f".{call.callee}".endswith(tuple(f".{one}" for one in _WHOLE_STATES))
    return whole and has_state and (not call.certain or _RESUMING.search(about) is not None)


def _written(call: Call, at: int) -> Value | None:
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


def _place(path: Value | None) -> str:
    """What two paths must share to be the same; a beginning alone is that of many."""
    if isinstance(path, KnownPrefix):
        return f"{path.begins}… {path.lines[:1]}"
    text = text_of(path)
    return str(PurePosixPath(text)) if text else ""


def _directory(path: Value | None) -> str:
    """Where one of several files lies whose names are not known."""
    return f"{path.directory}/…" if isinstance(path, KnownPrefix) and path.directory else ""


def _directories(paths: Sequence[Value | None]) -> set[str]:
    """Where files lie that are written, whether or not their names are known."""
    prefixes = [path.directory or "" for path in paths if isinstance(path, KnownPrefix)]
    whole = [PurePosixPath(text).parent for path in paths if (text := text_of(path))]
    return {each.removeprefix("./").rstrip("/") for each in (*prefixes, *map(str, whole))}


def _loads_more_than_weights(reading: Reading) -> bool:
    """Whether an optimiser takes up its state: else it is a pretrained model."""
    return any(
        "optim" in call.callee.lower() or "Scaler" in call.callee
        for call in calls_of(reading, "load_state_dict")
    )


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
    if not names & _LOADS:
        return False
    whole = any("optim" in ast.unparse(called)[:200] for called in calls)
    return bool(_CHOSEN.search(asked) or (whole and _PERHAPS_CHOSEN.search(asked)))


def trainer_resumes(reading: Reading) -> Iterator[Claim]:
    """`trainer.train(resume_from_checkpoint=…)`, `trainer.fit(…, ckpt_path=…)`."""
    looked = any(call.if_there for call in calls_of(reading, "get_last_checkpoint"))
    over = next(_writes_over(reading), None)
    if over is not None and _can_look(reading):
        value = Value(False, over.lines, over.source)
        yield Claim(field="resumes", value=value, confidence=0.85)
        return
    for call in calls_of(reading, "train", "fit"):
        given = call.keywords.get("resume_from_checkpoint", call.keywords.get("ckpt_path"))
        if given is None or "Trainer" not in call.callee:
            continue
        if isinstance(given, IfPresent) or (looked and not given.plain):
            yield from implied_claim("resumes", True, call, certain=call.if_there)
            return
        truth = truth_of(given)
        if truth is not None:
            value = Value(truth, given.lines or (call.line,), given.source)
            sure = call.certain or given.data is True  # in a branch: it looked for one before
            yield from claim("resumes", value, call, certain=sure)
            return


def _can_look(reading: Reading) -> bool:
    return any(last_name(each.name) == "get_last_checkpoint" for each in reading.trace.imports)


def _writes_over(reading: Reading) -> Iterator[Value]:
    """The setting that keeps a program from looking for the last checkpoint of its output."""
    named = {
        last_name(name.lstrip("-").replace("-", "_")): each
        for name, each in reading.options.items()
    }
    over = named.get("overwrite_output_dir")
    given = named.get("resume_from_checkpoint")
    if over is not None and truth_of(over) is True and not (given is not None and truth_of(given)):
        yield over

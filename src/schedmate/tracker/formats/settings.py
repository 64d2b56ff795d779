"""What a run announces about its end: totals and time caps, in sentences and in dumps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import Sample, Sighting
from schedmate.tracker.formats.quantities import COUNT, DURATION, count_of, seconds_of
from schedmate.tracker.formats.setting_names import (
    CAPS,
    GENERIC,
    MAX_NAME,
    OF_SOMETHING_ELSE,
    PER_EPOCH,
    PREFIXES,
    TOTALS,
    WEAK,
    WEAK_THINGS,
)

_MAX_LENGTH = 4096
_MAX_ITEMS = 64
_IS = r"['\"]?(?P<is>\s{0,3}[:=|]\s{0,20}|\s{1,3}\.{3,80}\s{0,3}|\s{1,40})['\"]?"
_AFTER = r"(?=$|[\s,;)\]}|'\"]|\.\s|\.$)"
_COUNTED = lazy_pattern(
    r"(?P<stem>(?:time)?steps|iter(?:ation)?s?|epochs?|epoch_num|updates?|train_samples|train_tokens"
    r"|generations|estimators|trees|rounds|boost_round|episodes|trials|sweeps|passes|frames|nstlim"
    rf"|numsteps|per[_ -]epoch){_IS}(?P<count>{COUNT}){_AFTER}",
    re.IGNORECASE,
)
_TIMED = lazy_pattern(
    r"(?P<stem>seconds|mins|minutes|hours|time|limit|budget|cap|wallclock)"
    rf"{_IS}(?:(?P<time>{DURATION})|(?P<count>{COUNT})){_AFTER}",
    re.IGNORECASE,
)
_TIME_SENTENCE = lazy_pattern(
    r"(?<!been )\b(?:(?:train|run|simulate|optimi[sz]e|search|sample)\w{0,4}"
    r"(?: [a-z]{2,12}){0,3} for"
    r" (?:at most|up to|a maximum of|max(?:imum)?|no more than|no longer than)"
    r"|(?:will |to )?stop(?:s|ping)?(?: (?:itself|training|the (?:run|training)))? after)"
    rf" (?P<time>{DURATION})(?! (?:without|with no|of (?:no|idle|inactiv|silence)|each|per)\b)",
    re.IGNORECASE,
)
_NAME = lazy_pattern(r"(?:([A-Za-z_]{1,30})[./])?([A-Za-z][A-Za-z_ -]{0,60})$")
_SENTENCE = lazy_pattern(
    r"\b(will train|train|training|running|run|simulating|simulation|optimi[sz]ing|performing"
    r"|executing|integrating|starting|going)"
    r"(?: (?:the |a )?(?:model|network|simulation|training))?(?: for| of| on)? "
    rf"(?:a total of |up to |at most |max(?:imum)? |a maximum of )?({COUNT}) (?:time |md |mc )?"
    r"(?:(?:training|train|optimi[sz]er|optimi[sz]ation|gradient|total) )?"
    r"(epochs|passes|steps|timesteps|iterations|iters|updates|tokens)\b"
    r"(?! (?:of|more|each|per|before|ahead|behind)\b)",
    re.IGNORECASE,
)
_EACH_EPOCH = lazy_pattern(
    rf"(?<![\w.,/-])(?P<each>{COUNT}) (?:training )?(?:batches|minibatches|steps|iterations|iters"
    r"|updates)(?: ?/ ?| per | an | a | in each | each )epoch\b",
    re.IGNORECASE,
)
_BATCHES = lazy_pattern(
    rf"(?<![\w.,/-])(?P<each>{COUNT}) (?:training )?(?:batches|minibatches)(?! of\b)", re.IGNORECASE
)
_EPOCHS = lazy_pattern(
    rf"(?<![\w.,/-])({COUNT}) epochs\b(?! (?:ago|without|since|of)\b)", re.IGNORECASE
)
_OVER_DATA = lazy_pattern(
    rf"(?<![\w.,/-])({COUNT}) (?:passes|epochs|sweeps) over (?:the )?(?:\w{{1,20}} ){{0,2}}"
    r"(?:corpus|data(?:set)?|training set|examples|documents)\b",
    re.IGNORECASE,
)
_TO_DO = lazy_pattern(
    r"\b(epochs|steps|iterations|updates|batches) (?:to (?:run|do|train|go|perform)|planned"
    rf"|in total|requested|total)\s{{0,3}}[:=]?\s{{1,8}}({COUNT}){_AFTER}",
    re.IGNORECASE,
)
_STANDS = lazy_pattern(
    r"\b(?:epoch|step|iter|iteration)\b[\s:=#\[(]{0,4}\d|\bcurrent_|\bloss\s?[:=]"
    r"|(?:eval|epoch|step|iter)_time\s?[:=]",
    re.IGNORECASE,
)
_EVALUATOR = lazy_pattern(r"\b(?:evaluator|validator|tester)\b", re.IGNORECASE)
_CAP_HINTS = (
    "max_time", "max-time", "max time", "time_limit", "time-limit", "time limit", "seconds",
    "in_mins", "budget", "wallclock", "wall clock", "stop", "at most", "up to", "no longer",
    "runtime", "hours", "minutes", "train_time", "training_time",
)  # fmt: skip
_UNITS_BY_WORD: dict[str, Unit] = {"epochs": "epoch", "passes": "epoch", "tokens": "token"}
_ENVIRONMENT, _FRAMES = "timesteps", "frames"
_ENVIRONMENT_STEPS = lazy_pattern(
    r"timesteps|env(?:ironment)?[_ ]steps|(?<![a-z])frames(?![a-z])", re.IGNORECASE
)
_WEAK_CONFIDENCE = 0.5
_MIN_CLOCK = 2
"""Colons of a time that can only be hours, minutes and seconds."""


class Settings:
    name = "settings"
    hints = (
        "steps",
        "iter",
        "epoch",
        "update",
        "tokens",
        "generations",
        "estimators",
        "trees",
        "rounds",
        "episodes",
        "trials",
        "sweeps",
        "passes",
        "boost_round",
        "frames",
        "nstlim",
        "train_samples",
        "train_tokens",
        *_CAP_HINTS,
    )

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        lowered = text.lower()
        if not any(hint in lowered for hint in self.hints) or _STANDS.search(text):
            return None
        if _EVALUATOR.search(text):
            return None
        unit, total, per_epoch = _total(text)
        each = None if per_epoch else _steps_per_epoch(text) or _named(text).get("per_epoch")
        cap = _cap(text) if any(hint in lowered for hint in _CAP_HINTS) else None
        if total is None and cap is None and each is None:
            return None
        weak = unit == "step" and not per_epoch and not _is_stated(text)
        return Sighting(
            unit=unit,
            total=total,
            per_epoch=per_epoch,
            steps_per_epoch=each,
            cap_s=cap,
            series=_of_environment(text) if total is not None else "",
            confidence=_WEAK_CONFIDENCE if weak else 1.0,
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample("training for at most 7200 seconds", Sighting(cap_s=7200)),
        Sample("this run will stop after 2 hours", Sighting(cap_s=7200)),
        Sample("wall-clock budget: 120 min", Sighting(cap_s=7200)),
        Sample("early stopping after 2 hours", None),
        Sample("has been training for up to 2 hours", None),
        Sample("  Total optimization steps = 1,125", Sighting(unit="step", total=1125)),
        Sample("  Num Epochs = 3", Sighting(unit="epoch", total=3)),
        Sample("total steps: 5000", Sighting(unit="step", total=5000)),
        Sample("Running 2000 training steps", Sighting(unit="step", total=2000)),
        Sample(
            "epochs: 10, steps_per_epoch: 100",
            Sighting(unit="epoch", total=10, steps_per_epoch=100),
        ),
        Sample("Epochs to run: 40", Sighting(unit="epoch", total=40)),
        Sample("num_steps=4000, seed=7", Sighting(unit="step", total=4000, confidence=0.5)),
        Sample("$ train.py --steps=2400", Sighting(unit="step", total=2400, confidence=0.5)),
        Sample("  train_num_steps: 150000", Sighting(unit="step", total=150_000)),
        Sample(
            "Namespace(num_steps=128, num_env_steps=10000000)",
            Sighting(unit="step", total=10_000_000, series="timesteps"),
        ),
        Sample(
            "num_boost_round=5000 early_stopping_rounds=100",
            Sighting(unit="step", total=5000, confidence=0.5),
        ),
        Sample(
            '{"rounds": 100, "local_epochs": 5}', Sighting(unit="step", total=100, confidence=0.5)
        ),
        Sample("Number of updates: 750", Sighting(unit="step", total=750)),
        Sample(
            "5 epochs x 200 steps/epoch",
            Sighting(unit="epoch", total=5, steps_per_epoch=200),
        ),
        Sample("312 batches per epoch", Sighting(steps_per_epoch=312)),
        Sample(
            "train: 10000 images, 250 batches, 8 epochs",
            Sighting(unit="epoch", total=8, steps_per_epoch=250),
        ),
        Sample(
            "total_timesteps: 1000000",
            Sighting(unit="step", total=1_000_000, series="timesteps"),
        ),
        Sample("4 batches of 32", None),
        Sample("run with iters=4000 warmup=100", Sighting(unit="step", total=4000, confidence=0.5)),
        Sample("number of estimators: 90", Sighting(unit="step", total=90, confidence=0.5)),
        Sample(
            "GA: population 200, max generations 120",
            Sighting(unit="step", total=120, confidence=0.5),
        ),
        Sample("early stopping rounds: 50", None),
        Sample("Engine run starting with max_epochs=20.", Sighting(unit="epoch", total=20)),
        Sample("evaluator INFO: Engine run starting with max_epochs=1.", None),
        Sample(
            "LDA training, 10 topics, 12 passes over the supplied corpus of 2000 documents",
            Sighting(unit="epoch", total=12),
        ),
        Sample("patience epochs=5", None),
        Sample("Running 4000 time steps with dt = 0.0005", Sighting(unit="step", total=4000)),
        Sample("Namespace(num_updates=1500, seed=42)", Sighting(unit="step", total=1500)),
        Sample("running 5 updates of the packages", None),
        Sample("INFO - max_steps: 5000", Sighting(unit="step", total=5000)),
        Sample("'num_epochs': 3,", Sighting(unit="epoch", total=3)),
        Sample("training.max_steps=5_000", Sighting(unit="step", total=5000)),
        Sample("Training for 90 epochs", Sighting(unit="epoch", total=90)),
        Sample("we will train for 1000 iterations", Sighting(unit="step", total=1000)),
        Sample("+ python train.py --epochs 90 --lr 0.1", Sighting(unit="epoch", total=90)),
        Sample(
            "Namespace(batch_size=32, epochs=90, eval_steps=500, max_steps=-1, lr=0.1)",
            Sighting(unit="epoch", total=90),
        ),
        Sample(
            "{'max_steps': 2000, 'num_epochs': 3, 'warmup_steps': 100}",
            Sighting(unit="step", total=2000),
        ),
        Sample("  epochs ............ 90", Sighting(unit="epoch", total=90)),
        Sample("| max_steps | 5000 |", Sighting(unit="step", total=5000)),
        Sample("steps_per_epoch: 312", Sighting(unit="step", total=312, per_epoch=True)),
        Sample(
            "iterations:20000 warmup_steps:20 max_wallclock_seconds:600.000",
            Sighting(unit="step", total=20_000, cap_s=600),
        ),
        Sample("max_time: 00:12:00:00", Sighting(cap_s=43_200)),
        Sample("time limit: 2h", Sighting(cap_s=7200)),
        Sample("exit_duration_in_mins: 1190", Sighting(cap_s=71_400)),
        Sample("python t.py --max-train-seconds 600", Sighting(cap_s=600)),
        Sample("wallclock cap: 10 min", Sighting(cap_s=600)),
        Sample("max_steps=-1", None),
        Sample("max_steps: None", None),
        Sample("warmup_steps: 100", None),
        Sample("lr_decay_iters ............ 320000", None),
        Sample("eval max_steps: 10", None),
        Sample("scheduler.total_steps: 10000", None),
        Sample("the model was trained for 90 epochs", None),
        Sample("evaluating every 100 steps", None),
        Sample("gradient accumulation steps = 4", None),
        Sample("Training for 3 more epochs", None),
        Sample("Epoch 3: total steps: 500", None),
        Sample("Current_epoch_num 0.05 | eval_epoch_time : 4817.16 ms | total_steps : 48", None),
        Sample("time limit: 2", None),
        Sample("exit_duration_in_mins ............. None", None),
        Sample("max_time: 12:00", None),
        Sample("took 3 iterations 5", None),
        Sample("num_epochs: 3/5", None),
        Sample("max_epochs: 0", None),
        Sample("total steps " * 10_000, None),
    )


def _total(text: str) -> tuple[Unit | None, float | None, bool]:
    """Steps before epochs: where both are set, trainers stop after the steps."""
    found = _stated(text) or _named(text)
    for unit in ("step", "epoch", "sample", "token"):
        if unit in found:
            return unit, found[unit], False
    return ("step", found["per_epoch"], True) if "per_epoch" in found else (None, None, False)


def _stated(text: str) -> dict[str, float]:
    found = _SENTENCE.search(text)
    what, number = (found[3], found[2]) if found else _to_do(text)
    total = count_of(number) if number else None
    if total:
        return {_UNITS_BY_WORD.get(what.lower(), "step"): total}
    passes = _OVER_DATA.search(text)
    if passes is not None and (total := count_of(passes[1])):
        return {"epoch": total}
    each = _BATCHES.search(text) or _EACH_EPOCH.search(text)
    epochs = _EPOCHS.search(text) if each else None
    total = count_of(epochs[1]) if epochs else None
    return {"epoch": total} if total else {}


def _to_do(text: str) -> tuple[str, str]:
    """`Epochs to run: 30`."""
    found = _TO_DO.search(text)
    return (found[1], found[2]) if found else ("", "")


def _steps_per_epoch(text: str) -> float | None:
    """`312 batches per epoch`, or `250 batches, 8 epochs`."""
    found = _EACH_EPOCH.search(text) or (_EPOCHS.search(text) and _BATCHES.search(text))
    return (count_of(found["each"]) or None) if found else None


def _is_stated(text: str) -> bool:
    """Whether a total of steps stands under a name that can mean nothing else."""
    if _stated(text):
        return True
    for item in islice(_COUNTED.finditer(text), _MAX_ITEMS):
        key = _key(text, item)
        if key is None or _is_weak(key):
            continue
        if TOTALS.get(key) == "step":
            return True
    return False


def _of_environment(text: str) -> str:
    """Steps of an environment are many for one step of the training: their name, or none."""
    found = _ENVIRONMENT_STEPS.search(text)
    if found is None:
        return ""
    return _FRAMES if found[0].lower() == _FRAMES else _ENVIRONMENT


def _named(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    weak: dict[str, float] = {}
    for item in islice(_COUNTED.finditer(text), _MAX_ITEMS):
        total = count_of(item["count"])
        key = _key(text, item) if total else None
        if key is not None and total:
            unit = "per_epoch" if key in PER_EPOCH else TOTALS.get(key)
            if unit is not None:
                (weak if _is_weak(key) else found).setdefault(unit, total)
    return weak | found


def _is_weak(key: str) -> bool:
    return key in WEAK or key.endswith(WEAK_THINGS)


def _cap(text: str) -> float | None:
    for item in islice(_TIMED.finditer(text), _MAX_ITEMS):
        key = _key(text, item)
        seconds = _seconds(item, CAPS[key]) if key in CAPS else None
        if seconds:
            return seconds
    stated = _TIME_SENTENCE.search(text)
    if stated is None or "early" in text.lower():
        return None
    return seconds_of(stated["time"]) or None


def _seconds(item: re.Match[str], each: float | None) -> float | None:
    duration, number = item["time"], item["count"]
    if number is not None:
        count = count_of(number)
        return count * each if count is not None and each else None
    clock = ":" in duration
    return None if clock and duration.count(":") < _MIN_CLOCK else seconds_of(duration)


def _key(text: str, item: re.Match[str]) -> str | None:
    """The known name whose value this is, unless it is one of something else."""
    found = _NAME.search(text[max(0, item.start() - 64) : item.end("stem")])
    if found is None:
        return None
    _, option, name = found[2].lower().rpartition("--")
    tokens = [token.strip("_") for token in name.replace("-", "_").split()]
    words = next(_names(tokens), 0)
    before = tokens[-words - 1 : -words] if words else []
    owners = [*before, *(found[1] or "").lower().split("_")]
    if not words or not OF_SOMETHING_ELSE.isdisjoint(owners):
        return None
    key = "_".join(tokens[-words:])
    first = not PREFIXES.isdisjoint(before or PREFIXES) and bool(item["is"].strip())
    alone = bool(option) or first or item["is"] == "="
    return key if alone or key not in GENERIC else None


def _names(tokens: list[str]) -> Iterator[int]:
    """How many of the last words make a known name, most first."""
    for words in range(min(MAX_NAME, len(tokens)), 0, -1):
        name = "_".join(tokens[-words:])
        if name in TOTALS or name in CAPS or name in PER_EPOCH:
            yield words

"""Headings of parts that each hold a whole count: `Phase 1/2: pretraining`, `fold 0`."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting, counted

_MAX_LENGTH = 120
_PART = lazy_pattern(
    r"(?:[\W\d]{0,40}(?:(?:info|root|main|search|tune|cv|study|sweep)\W{1,8}"
    r"|[a-z][\w.-]{0,20}(?:\]|:|\||\s-)\s{0,4}){0,3})"
    r"(?:(?:starting|running|begin(?:ning)?|start of|now|training|entering) )?"
    r"(?P<part>fold|split|trial|phase|stage|seed|repeat|repetition|experiment|task)"
    r"[\s:#=_-]{1,3}(?P<index>\d{1,4})(?:\s{0,2}(?:/|of|out of)\s{0,2}(?P<of>\d{1,4}))?"
    r"(?P<rest>(?:[\s:.,;=#*)\]-].{0,80})?)",
    re.IGNORECASE,
)
_ENDED = lazy_pattern(
    r"\b(?:finished|completed?|done|ended|failed|pruned|result|score|took|best|skipp|mean"
    r"|acc(?:uracy)?|loss|auc)\b|\bdice\b",
    re.IGNORECASE,
)
_BESIDE = lazy_pattern(
    r"(?<![\w.])(?P<part>fold|split|trial|seed|repeat|run|chain|replicate)[\s:#=_-]{0,3}(?P<index>\d{1,4})(?![\w./])",
    re.IGNORECASE,
)
_COUNT = lazy_pattern(r"[\d)]\s?/\s?\d")
UNEQUAL = frozenset({"phase", "stage", "task"})
_UNEQUAL_CONFIDENCE = 0.4
_NAMED_BY_NUMBER = frozenset({"seed", "experiment", "task"})
"""A number alone is their name, not a place in a row."""
WHOLE_RUNS = frozenset(
    {
        "fold", "split", "trial", "seed", "repeat", "repetition", "experiment", "task", "phase",
        "stage", "chain", "replicate", "restart", "member", "config",
    }
)  # fmt: skip
"""Of each the log tells from beginning to end: what ends in one of them is not the run."""
_NAMES = {"split": "fold", "repetition": "repeat"}
NUMBER_OF_PARTS = "number of parts"
"""The series of a total that is announced of them."""
_NUMBER_OF = lazy_pattern(
    r"(?<![\w=:.])(?:(?P<before>\d{1,4})(?:-fold\b| (?:folds|trials|splits|seeds|repeats|phases"
    r"|stages|chains|runs|restarts|replicates)\b(?!\s?[=:]))"
    r"|(?:(?:n|num|number_of|total)_(?:folds|splits|trials|seeds|repeats|phases|stages|restarts"
    r"|replicates)|(?:n_|num_)?(?:runs|chains))"
    r"['\"]?\s{0,3}[:=]\s{0,3}(?P<after>\d{1,4})\b)",
    re.IGNORECASE,
)


class Parts:
    name = "parts"
    hints = (
        "fold", "split", "trial", "phase", "stage", "seed", "repe", "experiment", "task", "runs",
        "chains", "replicate", "restarts",
    )  # fmt: skip

    def read(self, line: str) -> Sighting | None:
        found = _PART.fullmatch(line) if len(line) <= _MAX_LENGTH else None
        if found is None:
            return _announced(line[:_MAX_LENGTH])
        counts = counted(found["index"], found["of"]) if found["of"] else None
        part = found["part"].lower()
        if not _is_heading(found) or ((found["of"] or part in _NAMED_BY_NUMBER) and not counts):
            return None
        return Sighting(
            unit="step",
            current=float(found["index"]),
            total=counts[1] if counts else None,
            series=_NAMES.get(part, part),
            ordinal="begun",
            confidence=_UNEQUAL_CONFIDENCE if part in UNEQUAL else 1.0,
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "phase 1/2: pretraining",
            Sighting(
                unit="step", current=1, total=2, series="phase", ordinal="begun", confidence=0.4
            ),
        ),
        Sample("fold 0", Sighting(unit="step", current=0, series="fold", ordinal="begun")),
        Sample(
            "[search] trial 3/8: lr=0.00312",
            Sighting(unit="step", current=3, total=8, series="trial", ordinal="begun"),
        ),
        Sample(
            "===== Fold 2 of 5 =====",
            Sighting(unit="step", current=2, total=5, series="fold", ordinal="begun"),
        ),
        Sample(
            "running 4-fold cross validation",
            Sighting(unit="step", series=NUMBER_OF_PARTS, total=4),
        ),
        Sample(
            "Namespace(runs=10, epochs=500)",
            Sighting(unit="step", series=NUMBER_OF_PARTS, total=10),
        ),
        Sample(
            "running 4 chains sequentially", Sighting(unit="step", series=NUMBER_OF_PARTS, total=4)
        ),
        Sample("n_trials=20", Sighting(unit="step", series=NUMBER_OF_PARTS, total=20)),
        Sample("fold 2 finished with auc 0.91", None),
        Sample("seed 42", None),
        Sample("seed: 1234", None),
        Sample("Task 2/5, epoch 3/10: acc 0.9", None),
        Sample("stage 1/2 | step 100/1000 loss=2.5", None),
        Sample("Beginning trial 08 of 10", None),
        Sample("trial " * 10_000, None),
    )


def part_in(text: str) -> Sighting | None:
    """The part that a line of a count names beside it: `[trial 3] epoch 5/15`."""
    found = _BESIDE.search(text[:_MAX_LENGTH])
    if found is None:
        return None
    part = found["part"].lower()
    index = float(found["index"])
    return Sighting(unit="step", current=index, series=_NAMES.get(part, part), ordinal="begun")


def _is_heading(found: re.Match[str]) -> bool:
    """`trial 08 of 10` is the launcher's: the log holds that trial only."""
    index, rest = found["index"], found["rest"]
    padded = index.startswith("0") and index != "0"
    return not (padded or _ENDED.search(rest) or _COUNT.search(rest))


def _announced(line: str) -> Sighting | None:
    found = _NUMBER_OF.search(line)
    if found is None or re.search(r"\b(?:step|epoch|iter)\b", line, re.IGNORECASE):
        return None
    number = float(found["before"] or found["after"])
    return Sighting(unit="step", series=NUMBER_OF_PARTS, total=number) if number > 1 else None

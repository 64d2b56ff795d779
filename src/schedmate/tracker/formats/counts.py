"""Counts in a line that somebody wrote for people: `Epoch [3/90]`, `step 100 of 5,000`, `12%`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from schedmate.model import Unit
from schedmate.tracker.formats.base import counted
from schedmate.tracker.formats.quantities import COUNT, count_of

Level = Literal["outer", "epoch", "step", "sample", "token"]
"""From the coarsest to the finest: folds hold epochs, epochs steps, steps samples."""

_WORDS: dict[Level, str] = {
    "outer": r"folds?|rounds?|generations?|gen|trials?|tasks?|seed|repeat",
    "epoch": r"epochs?|ep|epoche|époque|época|轮",
    "step": (
        r"global[_ ]?steps?|train(?:ing)?[_ ](?:step|iter(?:ation)?)|opt(?:imizer)?[_ ]step"
        r"|(?:time)?steps?|iter(?:ation)?s?|it|updates?|(?:mini-?)?batch|episodes?"
        r"|schritt|étape|paso|步"
    ),
    "sample": r"(?:consumed )?(?:samples?|examples?|images?)(?:[_ ](?:seen|processed))?",
    "token": r"(?:consumed )?tokens?(?:[_ ](?:seen|processed))?",
}
_OF = r"\s{0,20}(?:/|of(?=\s)|out of(?=\s)|von(?=\s)|sur(?=\s)|de(?=\s)|共)\s{0,20}"
_END = r"(?![\w/]|\.\w|-\d)"
_NAMED = re.compile(
    r"(?:(?<![\w/.-])(?:train(?:er|ing)?/)?"
    rf"(?:(?P<outer>{_WORDS['outer']})|(?P<epoch>{_WORDS['epoch']})|(?P<step>{_WORDS['step']})"
    rf"|(?P<sample>{_WORDS['sample']})|(?P<token>{_WORDS['token']})))(?![A-Za-z_])"
    rf"(?P<gap>[\s:=#\[(<]{{0,20}})(?P<current>{COUNT})"
    rf"(?:{_OF}(?P<total>{COUNT}){_END}|{_END}(?!{_OF}\d))"
    r"(?:\s{0,2}\((?P<percent>\d{1,3}(?:\.\d{1,6})?)\s?%\))?",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    rf"(?<![\w/.:-])(?P<current>{COUNT}){_OF}(?P<total>{COUNT})\s{{0,3}}(?:"
    r"(?P<outer>folds|rounds|generations|trials|tasks)|(?P<epoch>epochs|轮)"
    r"|(?P<step>(?:time)?steps|iter(?:ation)?s|batches|updates|episodes|步)"
    r"|(?P<sample>samples|examples|images)|(?P<token>tokens))(?![\w/])",
    re.IGNORECASE,
)
_PLURALS = (
    "steps", "iterations", "iters", "batches", "updates", "episodes", "步", "epochs", "轮",
    "samples", "examples", "images", "tokens", "folds", "rounds", "generations", "trials", "tasks",
)  # fmt: skip
_BRACKET = re.compile(
    r"[\[(]\s{0,8}(\d{1,15})\s{0,2}/\s{0,2}(\d{1,15})(?:\s{0,2}\((\d{1,3})(?:\.\d{1,4})?%\))?\s{0,2}[\])]"
)
_BEFORE_BARE = re.compile(
    r"[\W\d]{0,60}(?:(?:info|debug|root|train(?:ing)?|main|progress|__main__|t|z|start(?:ing)?"
    r"|communication|federated|cv)\b[\W\d]{0,30}){0,6}",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"(?:^|[\W_])(?:training|train|progress|fortschritt|overall)(?: progress)?[\s:=\[(]{1,8}"
    r"(\d{1,3}(?:\.\d{1,6})?)\s?%"
    r"|^\W{0,8}(\d{1,3}(?:\.\d{1,6})?)\s?% (?:done|completed?|finished|trained)\b",
    re.IGNORECASE,
)
_AROUND_A_WORD = " _:-[]()|.,=#*>/\t"
_ALL = 100.0
_MOST_COUNTS = 12
_NOT_NOW = frozenset(
    {
        "best", "last", "max", "min", "total", "num", "number", "warmup", "per", "every", "each",
        "previous", "next", "until", "from", "before", "since", "skip", "skipping", "resume",
        "resumed", "resuming", "load", "loaded", "loading", "restored", "target",
    }
)  # fmt: skip
"""Words before a count that say that it is not where the run stands."""
_EVALUATED = frozenset(
    {
        "val", "valid", "validate", "validated", "validation", "validating", "eval", "evaluate",
        "evaluated", "evaluation", "evaluating", "test", "tested", "testing", "dev",
    }
)  # fmt: skip
_THINGS = frozenset(
    {
        "rank", "gpu", "node", "worker", "device", "shard", "file", "part", "layer", "process",
        "version",
    }
)  # fmt: skip
"""Words before `3/8 steps` that say what there are eight of."""


@dataclass(frozen=True, slots=True)
class Count:
    level: Level
    current: float
    total: float | None
    word: str
    start: int
    end: int
    percent: float | None = None
    evaluated: bool = False

    @property
    def unit(self) -> Unit:
        return "step" if self.level == "outer" else self.level


def counts_in(text: str, lowered: str) -> list[Count]:
    """All counts that are named by a word, as they stand in the line."""
    found = [*islice(_NAMED.finditer(text), _MOST_COUNTS)]
    named = {one.start("current") for one in found}
    if any(hint in lowered for hint in _PLURALS):
        trailing = islice(_TRAILING.finditer(text), _MOST_COUNTS)
        found += [one for one in trailing if one.start("current") not in named]
    counts = (_count(text, one) for one in sorted(found, key=re.Match.start))
    return [one for one in counts if one is not None]


def bracket_in(text: str, start: int, *, bare: bool = False) -> Count | None:
    """`[1280/60000 (2%)]` counts samples, `[ 120/5004]` steps; a bare one stands first."""
    found = _BRACKET.search(text, start)
    if found is None or (bare and not stands_first(text, found.start())):
        return None
    counts = counted(found[1], found[2])
    if counts is None:
        return None
    of_samples = found[3] is not None and not bare
    return Count("sample" if of_samples else "step", *counts, "[]", *found.span())


def stands_first(text: str, start: int) -> bool:
    """Whether only times, levels and the like stand before this place of the line."""
    return _BEFORE_BARE.fullmatch(text[:start]) is not None


def percent_in(text: str) -> float | None:
    """How much of the training is done, where the line says it in per cent."""
    found = _PERCENT.search(text)
    percent = None if found is None else float(found[1] or found[2])
    return percent if percent is not None and percent <= _ALL else None


def _count(text: str, found: re.Match[str]) -> Count | None:
    level = next(level for level in _WORDS if found[level])
    current = count_of(found["current"])
    total = count_of(found["total"]) if found["total"] else None
    before = text[max(0, found.start() - 24) : found.start()].strip(_AROUND_A_WORD)
    word_before = before.rpartition(" ")[2].strip(_AROUND_A_WORD).lower()
    other = word_before in _NOT_NOW or (found.re is _TRAILING and word_before in _THINGS)
    if current is None or other or not _plausible(level, current, total):
        return None
    percent = found["percent"] if found.re is _NAMED else None
    return Count(
        level,
        current,
        total,
        found[level].lower(),
        found.start(),
        found.end(),
        float(percent) if percent else None,
        word_before in _EVALUATED,
    )


def _plausible(level: Level, current: float, total: float | None) -> bool:
    if total is not None:
        return 0 < max(current, 1) <= total
    return level == "epoch" or current.is_integer()

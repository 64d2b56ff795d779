"""Steps that cost more as a run goes on: schedules of batch size, length or resolution. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model.advice import Z90

_MAX_LENGTH = 2000
_MAX_STAGES = 64
_PRODUCT = r"\d{1,12}(?: ?\* ?\d{1,9}){0,4}"
_PAIR = rf"[\[(] ?(\d{{1,12}}(?:\.\d{{1,6}})?) ?, ?({_PRODUCT}) ?[\])]"
_ENTRY = rf"(\d{{1,12}}(?:\.\d{{1,6}})?)[\"']? ?: ?({_PRODUCT})"
_NAMED = lazy_pattern(
    r"\b(?P<name>\w{0,30}(?:batch|bs|seq|len|context|ctx|resolution|image)\w{0,20}"
    r"(?: (?:size|length))?(?: (?:schedule|stages|ramp|curriculum))?)"
    r"[\"']?(?:: ?\w{1,20}(?:\[[\w, .]{0,40}\])?)? ?[=:] ?[\"']?"
    r"(?P<open>[\[({]?)(?P<values>.{3,1500})",
    re.IGNORECASE,
)
_UNTIL = lazy_pattern(
    rf"({_PRODUCT})(?:px|x\d{{1,6}})? (?:until|till|up to) (?:\w{{1,10}} )?"
    r"(\d{1,12}(?:\.\d{1,6})?)([km]?)\b"
)
_AFTER = lazy_pattern(rf"({_PRODUCT})(?:px|x\d{{1,6}})? (?:after|then|from there|to the end)")
_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6}
_SCHEDULED = ("schedule", "stages", "ramp", "curriculum", "milestones", "progressive")
_NOT_SIZES = ("lr", "warmup_steps", "learning")
_SQUARED = ("resolution", "image")
_FIXED = 0.15
"""Of a step's cost at its first size, what does not depend on the size."""

DEARER_DOUBT = 0.3
"""A step of twice the size takes not quite twice as long, by how much is unknown."""


@dataclass(frozen=True, slots=True)
class StepSchedule:
    """`begins` are shares of the run, or steps where one of them is above 1, from 0 up."""

    begins: tuple[float, ...]
    costs: tuple[float, ...]

    def mean_cost(self, first: float, last: float, total: float) -> float:
        """Of the steps between two counts of a run of so many steps; 1 is a first step's."""
        edges = [*self._in_steps(total), math.inf]
        parts = [
            (max(0.0, min(last, end) - max(first, begin)), cost)
            for (begin, end), cost in zip(pairwise(edges), self.costs, strict=True)
        ]
        steps = math.fsum(part for part, _ in parts)
        if steps <= 0:
            ends = zip(edges[1:], self.costs, strict=True)
            return next(cost for end, cost in ends if first < end)
        return math.fsum(part * cost for part, cost in parts) / steps

    def rest_cost(self, first: float, done: float, total: float) -> tuple[float, float]:
        """Of a step to come, in those between `first` and `done`; by what factor it may be off."""
        dearer = self.mean_cost(done, total, total) / self.mean_cost(first, done, total)
        return dearer, max(1.0, dearer) ** (Z90 * DEARER_DOUBT)

    def _in_steps(self, total: float) -> list[float]:
        by_share = max(self.begins) <= 1
        return [begin * total if by_share else begin for begin in self.begins]


def schedule_in(text: str) -> StepSchedule | None:
    """`train_bs_schedule = (8 * 2048, 16 * 2048)`, `seq_len_schedule: [(0, 512), (1000, 1024)]`."""
    lowered = text[:_MAX_LENGTH].lower()
    if not any(word in lowered for word in _SCHEDULED):
        return None
    found = _NAMED.search(lowered)
    while found is not None:
        name = found["name"]
        if any(word in name for word in _SCHEDULED) and not name.startswith(_NOT_SIZES):
            stages = _stages_until(found["values"])
            return _schedule(name, stages or _stages(_inside(found["open"], found["values"])))
        found = _NAMED.search(lowered, found.start("open"))
    return None


def schedule_of_code(source: str) -> StepSchedule | None:
    """The first schedule that a program assigns; one of the training before any other."""
    lines = [line for line in source.splitlines() if any(one in line.lower() for one in _SCHEDULED)]
    lines.sort(key=lambda line: "train" not in line.lower())
    return next((found for line in lines if (found := schedule_in(line)) is not None), None)


def _inside(opened: str, values: str) -> str:
    """Up to the bracket that closes the first one; without brackets, the list of numbers."""
    if not opened:
        bare = re.match(r"[\d, *]{3,400}", values)
        return bare[0] if bare else ""
    depth = 1
    for place, letter in enumerate(values):
        depth += (letter in "[({") - (letter in "])}")
        if depth == 0:
            return values[:place]
    return values


_Stages = list[tuple[float, float]]
"""Where each begins, and its size."""


def _stages_until(values: str) -> _Stages:
    """`64 until 10k, 128 until 20k, 256 after`; empty where it is written otherwise."""
    parts = _UNTIL.findall(values)
    ends = [float(end) * _THOUSANDS[scale] for _, end, scale in parts]
    last = _AFTER.findall(values)[-1:]
    sizes = [_product(size) for size in (*(part[0] for part in parts), *last)]
    return list(zip([0.0, *ends], sizes, strict=False)) if parts else []


def _stages(values: str) -> _Stages:
    pairs = re.findall(_PAIR, values) or re.findall(_ENTRY, values)
    if pairs:
        return [(float(begin), _product(size)) for begin, size in pairs]
    sizes = [_product(size) for size in re.findall(_PRODUCT, values)]
    return [(place / len(sizes), size) for place, size in enumerate(sizes)]


def _schedule(name: str, stages: _Stages) -> StepSchedule | None:
    begins, sizes = [begin for begin, _ in stages], [size for _, size in stages]
    rising = sorted(begins) == begins and begins[:1] == [0.0]
    if not 1 < len(sizes) <= _MAX_STAGES or not rising or min(sizes) <= 0:
        return None
    power = 2 if any(word in name for word in _SQUARED) else 1
    return StepSchedule(tuple(begins), tuple(_costs(sizes, power)))


def _costs(sizes: Sequence[float], power: int) -> list[float]:
    return [_FIXED + (1 - _FIXED) * (size / sizes[0]) ** power for size in sizes]


def _product(text: str) -> float:
    return math.prod(float(factor) for factor in text.split("*"))

"""How long a unit of work takes: of a code, and until that is known of its kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from schedmate.advisor.predict.neighbours import EDITED
from schedmate.model.sketch import Sketch

_FORGETS = 0.998
_ODD_SQUARE = 9.0
_VARIANCES = (9.0, 0.4, 0.1)
"""Of the logarithm of the pace: between kinds of job, between codes, between their versions."""
_NOISE, _NOISE_COUNT = 1.0, 5.0
_GPUS, _BATCH = -0.8, 0.8
_NO_CHANCE = 6.0
"""Variances of the noise beyond which what a user's jobs take more than is claimed is no chance."""
_MOST_PACES = 50_000
_MOST_FAMILIES = 200


@dataclass(slots=True)
class Paces:
    """Seconds per unit of work (log): means over ever more particular jobs (the kind of job,
    versions of its code, this very code), each drawn towards the one before by how noisy the
    site's times are: where repeats take as long, the very code counts alone."""

    sums: dict[str, tuple[float, float]] = field(default_factory=dict)
    families: dict[str, list[int]] = field(default_factory=dict)
    """Shapes of code of each kind of job, one of each family, the newest last."""
    noise: tuple[float, float] = (_NOISE * _NOISE_COUNT, _NOISE_COUNT)

    def keys(self, sketch: Sketch) -> tuple[str, ...]:
        """From the least to the most particular."""
        words = [sketch.word(each) for each in ("model", "dataset", "task", "entry_point")]
        kind = f"{_unit(sketch)} {words}"
        family = self._family(kind, sketch.shape) if sketch.shape else sketch.word("user")
        return kind, f"{kind} ~{family}", f"{kind} ~{family} {sketch.code}"

    def _family(self, kind: str, shape: int) -> int:
        """The first known shape that it differs little from; code stays in it through edits."""
        known = self.families.get(kind, [])
        nearest = min(known, key=lambda each: (each ^ shape).bit_count(), default=shape)
        return nearest if (nearest ^ shape).bit_count() <= EDITED else shape

    def of(self, keys: Sequence[str], otherwise: float) -> float | None:
        """None where even the least particular key is new."""
        if not keys or keys[0] not in self.sums:
            return None
        pace, noise = otherwise, self.noise[0] / self.noise[1]
        for key, variance in zip(keys, _VARIANCES, strict=True):
            total, count = self.sums.get(key, (0.0, 0.0))
            pace = (total + noise / variance * pace) / (count + noise / variance)
        return pace

    def beyond_chance(self, total: float, count: float) -> float:
        """The mean, where chance does not explain it."""
        noise = self.noise[0] / self.noise[1] * (1 + 1 / count)
        return total / count if (total / count) ** 2 > _NO_CHANCE * noise else 0.0

    def learn(self, keys: Sequence[str], shape: int, pace: float, expected: float | None) -> None:
        """`expected` is what it was taken for."""
        if expected is not None:
            total, count = self.noise
            square = min((pace - expected) ** 2, _ODD_SQUARE * total / count)
            self.noise = total * _FORGETS + square, count * _FORGETS + 1
        if shape and self._family(keys[0], shape) == shape:
            known = self.families.setdefault(keys[0], [])
            known += [] if shape in known else [shape]
            del known[:-_MOST_FAMILIES]
        for key in keys:
            total, count = self.sums.pop(key, (0.0, 0.0))
            self.sums[key] = total * _FORGETS + pace, count * _FORGETS + 1
        while len(self.sums) > _MOST_PACES:
            del self.sums[next(iter(self.sums))]


def _unit(sketch: Sketch) -> str:
    return "epochs" if math.isnan(sketch.number("steps")) else "steps"


def log_work(sketch: Sketch) -> float | None:
    """Steps or else epochs, less what GPUs make of them, and of steps what a batch does; None where
    neither is stated, or where something else ends it."""
    unit = _unit(sketch)
    length = sketch.number(unit)
    if sketch.open_ended or math.isnan(length):
        return None
    gpus, batch = (np.nan_to_num(sketch.number(each)) for each in ("gpus", "batch"))
    return float(length + _GPUS * gpus + (_BATCH * batch if unit == "steps" else 0.0))

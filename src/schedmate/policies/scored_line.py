"""Waiting jobs as columns, so that a whole line is judged in one go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.world import Seen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROOM = 64


class ScoredLine:
    """Nobody is sorted: who goes first is looked up, and who leaves is replaced by the last."""

    def __init__(self, seen: Seen, planned: Floats) -> None:
        self._seen_gpus = np.asarray(seen.gpus, dtype=np.int64)
        self._planned = planned
        self._slot: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._jobs = np.zeros(_ROOM, dtype=np.int64)
        self._score = np.zeros(_ROOM)
        self._gpus = np.zeros(_ROOM, dtype=np.int64)
        self._plan = np.zeros(_ROOM)
        self._shortest = np.inf

    def __len__(self) -> int:
        return len(self._slot)

    @property
    def jobs(self) -> Ints:
        return self._jobs[: len(self._slot)]

    @property
    def smallest(self) -> int:
        """GPUs that the smallest of them asks for; ask only where somebody waits."""
        return min(self._sizes)

    def add(self, job: int, score: float) -> None:
        slot = len(self._slot)
        if slot == len(self._jobs):
            self._grow()
        gpus = int(self._seen_gpus[job])
        self._slot[job] = slot
        self._sizes[gpus] = self._sizes.get(gpus, 0) + 1
        self._jobs[slot], self._score[slot] = job, score
        self._gpus[slot], self._plan[slot] = gpus, self._planned[job]
        self._shortest = min(self._shortest if slot else np.inf, self._planned[job])

    def remove(self, job: int) -> None:
        slot, last = self._slot.pop(job), len(self._slot)
        gpus = int(self._gpus[slot])
        self._sizes[gpus] -= 1
        if not self._sizes[gpus]:
            del self._sizes[gpus]
        if slot != last:
            for column in (self._jobs, self._score, self._gpus, self._plan):
                column[slot] = column[last]
            self._slot[int(self._jobs[slot])] = slot

    def rescore(self, scores: Floats) -> None:
        """In the order of `jobs`."""
        self._score[: len(self._slot)] = scores

    def score(self, job: int) -> float:
        return float(self._score[self._slot[job]])

    def first(self) -> int:
        """The job with the highest score; ask only where somebody waits."""
        return int(self._jobs[self._score[: len(self._slot)].argmax()])

    def first_behind(self, free: int, window_s: float, spare: int) -> int | None:
        """The first that asks for no more than is free and either is planned to be over within
        the window or asks for no more than is spare."""
        count = len(self._slot)
        if self._shortest > window_s and self.smallest > spare:
            return None
        gpus = self._gpus[:count]
        may = (gpus <= free) & ((self._plan[:count] <= window_s) | (gpus <= spare))
        scores = np.where(may, self._score[:count], -np.inf)
        best = int(scores.argmax())
        return int(self._jobs[best]) if may[best] else None

    def _grow(self) -> None:
        for name in ("_jobs", "_score", "_gpus", "_plan"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros_like(column)]))

"""What Slurm's multifactor priority goes by: decayed usage of each user, and a queue of scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.base import JobColumns

Floats = NDArray[np.float64]


class FairShare:
    """GPU seconds of every user, halved every `half_life_s`; all users have equal shares."""

    def __init__(self, users: int, half_life_s: float) -> None:
        self._decay = math.log(2.0) / half_life_s
        """0 where the half-life is infinite."""
        self._used = [0.0] * users
        self._rate = [0] * users
        self._as_of = [0.0] * users

    def change(self, user: int, gpus: int, now: float) -> None:
        """From now on the user holds so many more GPUs, or fewer where that is negative."""
        passed = now - self._as_of[user]
        kept = math.exp(-self._decay * passed)
        counted = (1.0 - kept) / self._decay if self._decay else passed
        self._used[user] = self._used[user] * kept + self._rate[user] * counted
        self._rate[user] += gpus
        self._as_of[user] = now

    def used(self, now: float) -> Floats:
        """Decayed GPU seconds: what runs counts as far as it has run."""
        passed = now - np.array(self._as_of)
        kept = np.exp(-self._decay * passed)
        running = np.array(self._rate) * ((1.0 - kept) / self._decay if self._decay else passed)
        usage: Floats = np.array(self._used) * kept + running
        return usage

    def factors(self, now: float) -> Floats:
        """2^(-usage / share): 1 for a user without usage, 0.5 for one who used a fair share."""
        used = self.used(now)
        total = float(used.sum())
        if total <= 0.0:
            return np.ones(len(used))
        factors: Floats = np.exp2(-used / total * len(used))
        return factors


Ints = NDArray[np.int64]

_ROOM = 64


class ScoredQueue:
    """Waiting jobs as columns, so that the whole queue is judged at once. It is not sorted: the
    first is looked up, and a job that leaves is replaced by the last."""

    def __init__(self, jobs: JobColumns, planned: Floats) -> None:
        self._gpus_of = np.asarray(jobs.gpus, dtype=np.int64)
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

    def __contains__(self, job: int) -> bool:
        return job in self._slot

    @property
    def jobs(self) -> Ints:
        return self._jobs[: len(self._slot)]

    @property
    def smallest(self) -> int:
        """GPUs that the smallest of them asks for; valid only where a job waits."""
        return min(self._sizes)

    def add(self, job: int, score: float) -> None:
        slot = len(self._slot)
        if slot == len(self._jobs):
            self._grow()
        gpus = int(self._gpus_of[job])
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
        """The job with the highest score; valid only where a job waits."""
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

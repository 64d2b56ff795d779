"""Who has used how much of the cluster, older use counting less: Slurm's classic fair share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class FairShare:
    """GPU seconds of every user, halved every `half_life_s`; all users have equal shares."""

    def __init__(self, users: int, half_life_s: float) -> None:
        self._decay = math.log(2.0) / half_life_s
        self._used = [0.0] * users
        self._rate = [0] * users
        self._as_of = [0.0] * users

    def change(self, user: int, gpus: int, now: float) -> None:
        """From now on the user holds so many more GPUs, or fewer where that is negative."""
        kept = math.exp(-self._decay * (now - self._as_of[user]))
        self._used[user] = self._used[user] * kept + self._rate[user] * (1.0 - kept) / self._decay
        self._rate[user] += gpus
        self._as_of[user] = now

    def used(self, now: float) -> Floats:
        """Decayed GPU seconds: what runs counts as far as it has run."""
        kept = np.exp(-self._decay * (now - np.array(self._as_of)))
        running = np.array(self._rate) * (1.0 - kept) / self._decay
        usage: Floats = np.array(self._used) * kept + running
        return usage

    def factors(self, now: float) -> Floats:
        """2^(-usage / share): 1 who used nothing, 0.5 who used a fair share."""
        used = self.used(now)
        total = float(used.sum())
        if total <= 0.0:
            return np.ones(len(used))
        factors: Floats = np.exp2(-used / total * len(used))
        return factors

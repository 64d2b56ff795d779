"""Slurm's priority/multifactor: whole numbers, calculated when a job comes or changes and for all
waiting jobs once in a period; and priority/basic, which never changes but by nice numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from schedmate.model.priority import FLOOR
from schedmate.policies.base import JobColumns, basic_priority
from schedmate.policies.priority_queue import FairShare
from schedmate.policies.slurm_parameters import SlurmParameters


class SlurmPriority:
    """One partition and one QOS of full factor; all users have equal shares of one account."""

    def __init__(
        self, parameters: SlurmParameters, jobs: JobColumns, node_gpus: Sequence[int]
    ) -> None:
        self._parameters = parameters
        self._jobs = jobs
        self._users = max(jobs.user, default=0) + 1
        self._share = FairShare(self._users, parameters.decay_half_life_s)
        self._nodes = max(1, len(node_gpus))
        self._gpus = max(1, sum(node_gpus))
        self._largest = max(node_gpus, default=1)
        self._factors = self._fair_factors(0.0)
        sizes = {gpus: self._size(gpus) for gpus in set(jobs.gpus)}
        self._fixed = [
            parameters.weight_job_size * sizes[gpus]
            + parameters.weight_partition
            + parameters.weight_qos
            for gpus in jobs.gpus
        ]

    def holds(self, job: int, gpus: int, now: float) -> None:
        """Its user holds so many more GPUs from now on, or fewer where that is negative."""
        self._share.change(self._jobs.user[job], gpus, now)

    def recalculate(self, now: float) -> None:
        """Usage counts from here on as it is now."""
        self._factors = self._fair_factors(now)

    def of(self, job: int, now: float) -> int:
        jobs, weights = self._jobs, self._parameters
        if weights.basic:
            return basic_priority(jobs.queue_key[job])
        age = min(1.0, max(0.0, (now - jobs.submit[job]) / weights.max_age_s))
        fair = weights.weight_fairshare * self._factors[jobs.user[job]]
        priority = weights.weight_age * age + fair + self._fixed[job] - jobs.nice[job]
        return max(FLOOR, math.floor(priority))

    def of_all(self, waiting: Sequence[int], now: float) -> list[int]:
        """The same numbers of many jobs."""
        jobs, weights = self._jobs, self._parameters
        if weights.basic:
            return [basic_priority(jobs.queue_key[job]) for job in waiting]
        submit = np.array([jobs.submit[job] for job in waiting])
        age = np.clip((now - submit) / weights.max_age_s, 0.0, 1.0)
        fair = np.array([self._factors[jobs.user[job]] for job in waiting])
        fixed = np.array([self._fixed[job] for job in waiting])
        nice = np.array([jobs.nice[job] for job in waiting])
        priority = weights.weight_age * age + weights.weight_fairshare * fair + fixed - nice
        whole: list[int] = np.maximum(FLOOR, np.floor(priority)).astype(np.int64).tolist()
        return whole

    def _size(self, gpus: int) -> float:
        """Half by nodes, half by CPUs, of which each GPU has its share."""
        nodes = math.ceil(gpus / self._largest) / self._nodes
        large = min(1.0, (nodes + gpus / self._gpus) / 2)
        return 1.0 - large if self._parameters.favor_small else large

    def _fair_factors(self, now: float) -> list[float]:
        if not self._parameters.fair_tree:
            return [float(each) for each in self._share.factors(now)]
        return ranked(self._share.used(now).tolist(), self._parameters.idle_users)


def ranked(usage: Sequence[float], idle_users: int = 0) -> list[float]:
    """Fair tree among users of equal shares: who used least has the highest rank, equal ones the
    same; the factor is the rank over the number of users."""
    count = len(usage) + idle_users
    factors = [0.0] * len(usage)
    rank = without_ties = len(usage)
    before: float | None = None
    for user in sorted(range(len(usage)), key=lambda each: usage[each]):
        if before is None or usage[user] != before:
            rank = without_ties
        factors[user] = rank / count
        before = usage[user]
        without_ties -= 1
    return factors

"""Tiresias (NSDI'19) with the Gittins index: how jobs ended so far says who is likely to end soon.

Two queues as in `tiresias`. In the first all jobs have the same index, as none has been served
for more than the queue's quantum, and the order is that of `Seen.place`. In the second, whose
quantum has no end, the index of a job that was served for `a` GPU-seconds is one over what is left
on average of the jobs that needed more than `a`: of those that ended in this very run, whatever
for. It is looked up when a job enters the queue and whenever its service has doubled since, so
that jobs do not stop each other all the time; and it is learnt anew each time there are a quarter
more ended jobs. Before `LEARN_FROM` have ended the second queue is in the order of places too.
"""

from __future__ import annotations

from bisect import insort

import numpy as np

from schedmate.model import BadInput
from schedmate.policies.disciplines import Staged, Stages, Standing
from schedmate.policies.tiresias import THRESHOLD_GPU_S
from schedmate.policies.world import Seen, World

LEARN_FROM = 20
_GROWTH = 1.25
_DOUBLINGS = 14


class Gittins(Staged):
    name = "gittins"
    fast = None

    def __init__(self, *, threshold: float = THRESHOLD_GPU_S) -> None:
        if threshold <= 0.0:
            raise BadInput("the threshold of gittins is in GPU-seconds and must be above 0")
        self._services = threshold * 2.0 ** np.arange(_DOUBLINGS)

    def stages(self, jobs: Seen) -> Stages:
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        return Stages(
            bounds=self._services[np.newaxis, :] / gpus[:, np.newaxis],
            keys=np.zeros((len(gpus), 0)),  # they change as jobs end: see `_key_of`
        )

    def begin(self, world: World) -> None:
        self._standing = Standing(world.jobs.place).of
        self._rank = [0, *[1] * _DOUBLINGS]
        self._ended: list[float] = []
        self._learn_at = float(LEARN_FROM)
        super().begin(world)

    def ended(self, job: int) -> None:
        super().ended(job)
        insort(self._ended, self._world.served(job) * self._world.jobs.gpus[job])

    def decide(self) -> None:
        if len(self._ended) >= self._learn_at:
            self._learn_at = len(self._ended) * _GROWTH
            self._learn()
        super().decide()

    def _key_of(self, job: int) -> float:
        return self._rank[self._stage[job]] * len(self._standing) + self._standing[job]

    def _learn(self) -> None:
        """Order the stages of the second queue by what is left on average of those that reach
        them; a stage that none outlived comes last."""
        ended = np.array(self._ended)
        longer = np.searchsorted(ended, self._services, side="right")
        sums = np.concatenate([np.cumsum(ended[::-1])[::-1], [0.0]])
        counts = len(ended) - longer
        left = np.where(counts > 0, sums[longer] / np.maximum(counts, 1) - self._services, np.inf)
        ranks = np.unique(left, return_inverse=True)[1] + 1
        self._rank = [0, *ranks.tolist()]
        self._running = sorted((self._key_of(job), job) for _, job in self._running)
        self._room.put_anew(self._key_of)

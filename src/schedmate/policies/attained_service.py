"""Least attained service: jobs that have held few GPU-seconds go first. No run times are needed.

SchedMate answers these policies with the Gittins index of its predictions: `predicted_gittins`.
"""

from __future__ import annotations

from bisect import insort
from heapq import heappop, heappush

import numpy as np

from schedmate.model import BadInput
from schedmate.policies.base import ClusterView, JobColumns
from schedmate.policies.disciplines import QueueRanks, Staged, Stages
from schedmate.policies.predicted_gittins import AnsweredByIndex

THRESHOLD_GPU_S = 72_000.0
"""Twenty GPU-hours. The authors' simulator has 3,250 GPU-seconds for its own trace, far too few for
public ones, where nearly all work would wait in the second queue; `las` needs no threshold."""


class Tiresias(AnsweredByIndex, Staged):
    """Tiresias (NSDI'19), discretised two-dimensional LAS.

    Two queues: a job begins in the first and moves to the second once it has held GPUs for
    `threshold` GPU-seconds, at that very moment. Within a queue running jobs stand before waiting
    ones, as in the authors' simulator, so that no job is stopped for another of its queue; else the
    order is that of `JobColumns.queue_key`. With `promote_knob` a job of the second queue
    that has waited that many times as long as it was served goes back to the first and begins anew;
    off by default.
    """

    name = "tiresias"
    parameters = ("threshold", "promote_knob")

    def __init__(
        self, *, threshold: float = THRESHOLD_GPU_S, promote_knob: float | None = None
    ) -> None:
        if not threshold >= 0.0:
            raise BadInput("the threshold of tiresias is in GPU-seconds and cannot be below 0")
        if promote_knob is not None and not promote_knob > 0.0:
            raise BadInput("the promote knob of tiresias must be above 0; leave it out for none")
        self._threshold = threshold
        self._promote_knob = promote_knob

    def stages(self, jobs: JobColumns) -> Stages:
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        ranks = np.asarray(QueueRanks(jobs.queue_key).of, dtype=np.float64)
        return Stages(
            bounds=(self._threshold / gpus)[:, np.newaxis],
            keys=np.stack([ranks, ranks + 2.0 * len(gpus)], axis=1),
        )

    def _running_key(self, job: int) -> float:
        return self._key_of(job) - len(self._stage)

    def begin(self, cluster: ClusterView) -> None:
        super().begin(cluster)
        self._promotions: list[tuple[float, int]] = []
        self._promoted_at: dict[int, float] = {}
        """How much a job had been served when it was promoted last."""

    def decide(self) -> None:
        while self._promotions and self._promotions[0][0] <= self._cluster.now:
            due, job = heappop(self._promotions)
            if self._due.get(job) == due:
                self._promote(job)
        super().decide()

    def _promote(self, job: int) -> None:
        del self._due[job]
        self._stage[job] = 0
        self._promoted_at[job] = served = self._cluster.served(job)
        self._bounds[job][0] = served + self._threshold / self._cluster.jobs.gpus[job]
        self._preemptor.put(job, self._key_of(job))

    def _stopped(self, job: int) -> None:
        self._preemptor.put(job, self._key_of(job))
        if self._promote_knob is None or not self._stage[job]:
            return
        served = self._cluster.served(job) - self._promoted_at.get(job, 0.0)
        due = self._due[job] = self._cluster.now + self._promote_knob * served
        heappush(self._promotions, (due, job))
        self._cluster.wake_at(due)


FIRST_GPU_S = 60.0
QUEUE_GROWTH = 4.0
_QUEUES = 10


class Las(AnsweredByIndex, Staged):
    """Many queues: Tiresias' idea without a threshold to tune.

    Ten queues by GPU-seconds held, the first up to `first`, each reaching `growth` times as far as
    the one before it; within a queue the order is that of `JobColumns.queue_key`. On traces whose
    jobs differ by five orders of magnitude this is far stronger than two queues, so it is the
    baseline to beat.
    """

    name = "las"
    parameters = ("first", "growth")

    def __init__(self, *, first: float = FIRST_GPU_S, growth: float = QUEUE_GROWTH) -> None:
        if not (first > 0.0 and growth > 1.0):
            raise BadInput(
                "the first queue of las reaches to more than 0 GPU-seconds, and each further one "
                "more than once as far"
            )
        self._bounds_gpu_s = first * growth ** np.arange(_QUEUES - 1)

    def stages(self, jobs: JobColumns) -> Stages:
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        ranks = np.asarray(QueueRanks(jobs.queue_key).of, dtype=np.float64)
        queues = np.arange(_QUEUES) * float(len(gpus))
        return Stages(
            bounds=self._bounds_gpu_s[np.newaxis, :] / gpus[:, np.newaxis],
            keys=queues[np.newaxis, :] + ranks[:, np.newaxis],
        )


LEARN_FROM = 20
_GROWTH = 1.25
_DOUBLINGS = 14


class Gittins(AnsweredByIndex, Staged):
    """Tiresias (NSDI'19) with the Gittins index, learnt from the jobs that ended so far.

    Two queues as in `Tiresias`. In the first all jobs have the same index, as none has been served
    for more than the queue's quantum, and the order is that of `JobColumns.queue_key`. In the
    second, whose quantum has no end, the index of a job that was served for `a` GPU-seconds is one
    over what is left on average of the jobs that needed more than `a`, of those that ended in this
    very run, however they ended. It is looked up when a job enters the queue and whenever its
    service has doubled since, so that jobs do not stop each other all the time; it is learnt anew
    each time there are a quarter more ended jobs. Before `LEARN_FROM` have ended the second queue
    is in the order of queue keys too.
    """

    name = "gittins"
    parameters = ("threshold",)

    def __init__(self, *, threshold: float = THRESHOLD_GPU_S) -> None:
        if threshold <= 0.0:
            raise BadInput("the threshold of gittins is in GPU-seconds and must be above 0")
        self._services = threshold * 2.0 ** np.arange(_DOUBLINGS)

    def stages(self, jobs: JobColumns) -> Stages:
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        return Stages(
            bounds=self._services[np.newaxis, :] / gpus[:, np.newaxis],
            keys=np.zeros((len(gpus), 0)),  # they change as jobs end: see `_key_of`
        )

    def begin(self, cluster: ClusterView) -> None:
        self._ranks = QueueRanks(cluster.jobs.queue_key).of
        self._rank = [0, *[1] * _DOUBLINGS]
        self._ended: list[float] = []
        self._learn_at = float(LEARN_FROM)
        super().begin(cluster)

    def ended(self, job: int) -> None:
        super().ended(job)
        insort(self._ended, self._cluster.served(job) * self._cluster.jobs.gpus[job])

    def decide(self) -> None:
        if len(self._ended) >= self._learn_at:
            self._learn_at = len(self._ended) * _GROWTH
            self._learn()
        super().decide()

    def _key_of(self, job: int) -> float:
        return self._rank[self._stage[job]] * len(self._ranks) + self._ranks[job]

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
        self._preemptor.put_anew(self._key_of)

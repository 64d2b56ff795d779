"""Tiresias (NSDI'19), discretised two-dimensional LAS: who has had little service goes first.

Two queues: a job begins in the first and moves to the second once it has held GPUs for `threshold`
GPU-seconds, at that very moment. Within a queue the order is that of `Seen.place`: of submission,
unless somebody holds a job back. (In the authors' simulator those who run stand before those who
wait, and who is demoted goes to the end of the second queue; by submission nobody is overtaken for
ever by others of his queue, at the price of more stops.) No run times are asked for. With
`promote_knob` a job of the second queue that has waited that many times as long as it was served
goes back to the first and begins anew; off by default.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from schedmate.model import BadInput
from schedmate.policies.disciplines import Staged, Stages, Standing
from schedmate.policies.world import Fast, Seen, World

THRESHOLD_GPU_S = 72_000.0
"""Twenty GPU-hours. The authors' simulator has 3,250 GPU-seconds for its own trace, far too few for
public ones, where nearly all work would wait in the second queue; `las` needs no threshold."""


class Tiresias(Staged):
    name = "tiresias"

    def __init__(
        self, *, threshold: float = THRESHOLD_GPU_S, promote_knob: float | None = None
    ) -> None:
        if not threshold >= 0.0:
            raise BadInput("the threshold of tiresias is in GPU-seconds and cannot be below 0")
        if promote_knob is not None and not promote_knob > 0.0:
            raise BadInput("the promote knob of tiresias must be above 0; leave it out for none")
        self._threshold = threshold
        self._promote_knob = promote_knob
        self.fast = Fast("staged") if promote_knob is None else None

    def stages(self, jobs: Seen) -> Stages:
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        standing = np.asarray(Standing(jobs.place).of, dtype=np.float64)
        return Stages(
            bounds=(self._threshold / gpus)[:, np.newaxis],
            keys=np.stack([standing, standing + len(gpus)], axis=1),
        )

    def begin(self, world: World) -> None:
        super().begin(world)
        self._promotions: list[tuple[float, int]] = []
        self._promoted_at: dict[int, float] = {}
        """How much a job had been served when it was promoted last."""

    def decide(self) -> None:
        while self._promotions and self._promotions[0][0] <= self._world.now:
            due, job = heappop(self._promotions)
            if self._due.get(job) == due:
                self._promote(job)
        super().decide()

    def _promote(self, job: int) -> None:
        del self._due[job]
        self._stage[job] = 0
        self._promoted_at[job] = served = self._world.served(job)
        self._bounds[job][0] = served + self._threshold / self._world.jobs.gpus[job]
        self._room.put(job, self._key_of(job))

    def _stopped(self, job: int) -> None:
        if self._promote_knob is None or not self._stage[job]:
            return
        served = self._world.served(job) - self._promoted_at.get(job, 0.0)
        due = self._due[job] = self._world.now + self._promote_knob * served
        heappush(self._promotions, (due, job))
        self._world.wake_at(due)

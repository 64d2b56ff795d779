"""Lucid's profiler: every job first runs on a few GPUs for a short while, so as to be measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heappop, heappush

from schedmate.model import BadInput
from schedmate.policies.world import World


@dataclass(frozen=True, slots=True)
class Profiling:
    """Where and how long. The authors' simulator sets 16 GPUs aside of 1,064 (Venus) and measures
    for 200 s, on Philly for 80 s; jobs that ask for more than 8 GPUs it does not measure at all,
    while the paper measures them on fewer, as here."""

    seconds: float = 200.0
    share: float = 0.02
    """Of the cluster, at least one GPU."""
    most_gpus: int = 8
    """A job that asks for more is measured on so many."""

    def __post_init__(self) -> None:
        if not (self.seconds > 0.0 and 0.0 < self.share < 1.0 and self.most_gpus > 0):
            raise BadInput("lucid profiles for more than 0 s on a share of the GPUs below 1")

    def gpus_of(self, cluster: int) -> int:
        """Set aside, of a cluster of so many."""
        return max(1, round(cluster * self.share))


_MANY = 10
"""Where more than that wait, the profiler borrows half as many GPUs again, if they are free. (The
authors' simulator adds a node to its two.)"""


class Profiler:
    """Fewest GPUs first, as they came; nobody overtakes. What a job does here is lost unless it
    ends here, for Lucid is not intrusive: there is no checkpoint to go on from."""

    def __init__(self, world: World, profiling: Profiling) -> None:
        self._world = world
        self._profiling = profiling
        self._waiting: list[tuple[int, int]] = []
        self._held: dict[int, int] = {}
        self._until: list[tuple[float, int]] = []
        self._over_at: dict[int, float] = {}
        self.busy = 0

    def put(self, job: int) -> None:
        heappush(self._waiting, (self._gpus(job), job))

    def has(self, job: int) -> bool:
        return job in self._held

    def leave(self, job: int) -> None:
        """It ended, or its GPUs failed."""
        self.busy -= self._held.pop(job)
        del self._over_at[job]

    def over(self) -> list[int]:
        """Take off the GPUs whose time is over, and say whose."""
        done, until = [], self._until
        while until and until[0][0] <= self._world.now:
            at, job = heappop(until)
            if self._over_at.get(job) == at:
                self._world.stop(job, keep_work=False)
                self.leave(job)
                done.append(job)
        return done

    def start_who_may(self) -> None:
        world, room = self._world, self._profiling.gpus_of(self._world.gpus)
        if len(self._waiting) > _MANY:
            room += math.ceil(room / 2)
        while self._waiting:
            gpus, job = self._waiting[0]
            if self.busy + gpus > room or not world.start(job, gpus):
                return
            heappop(self._waiting)
            self._held[job] = gpus
            self.busy += gpus
            over_at = self._over_at[job] = world.now + self._profiling.seconds
            heappush(self._until, (over_at, job))
            world.wake_at(over_at)

    def _gpus(self, job: int) -> int:
        most = min(self._profiling.most_gpus, self._profiling.gpus_of(self._world.gpus))
        return min(self._world.jobs.gpus[job], most)

"""Lucid's profiler, its sharing score, and which jobs share GPUs."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from heapq import heappop, heappush

from schedmate.model import BadInput
from schedmate.policies.base import ClusterView


@dataclass(frozen=True, slots=True)
class Profiling:
    """Where and how long. The authors' simulator sets 16 GPUs aside of 1,064 (Venus), lends the
    profiler another node while many jobs wait for it, and measures for 200 s, on Philly for 80 s;
    jobs that ask for more than 8 GPUs it does not measure at all, while the paper measures them on
    fewer, as here. On a cluster of 64 GPUs that share is one GPU, for which all jobs would wait:
    here the profiler borrows what is free, before other jobs may have it."""

    seconds: float = 200.0
    share: float = 0.02
    """Of the cluster, set aside; at least one GPU."""
    most: float = 0.125
    """Share of the cluster that it has at most, with what it borrows."""
    most_gpus: int = 8
    """A job that asks for more is measured on so many, or on those set aside."""

    def __post_init__(self) -> None:
        if not (self.seconds > 0.0 and 0.0 < self.share < 1.0 and self.most_gpus > 0):
            raise BadInput("lucid profiles for more than 0 s on a share of the GPUs below 1")
        if not self.share <= self.most < 1.0:
            raise BadInput("lucid's profiler has at least what is set aside, but not all GPUs")

    def aside_of(self, cluster: int) -> int:
        return max(1, round(cluster * self.share))

    def most_of(self, cluster: int) -> int:
        return max(1, round(cluster * self.most))


class Profiler:
    """Every job first runs on a few GPUs for a short while, to be measured: fewest GPUs first, then
    by submission; none overtakes. What a job does here is lost unless it ends here, for Lucid is
    not intrusive: there is no checkpoint to resume from."""

    def __init__(self, cluster: ClusterView, profiling: Profiling) -> None:
        self._cluster = cluster
        self._profiling = profiling
        self._waiting: list[tuple[int, int]] = []
        self._held: dict[int, int] = {}
        self._until: list[tuple[float, int]] = []
        self._over_at: dict[int, float] = {}
        self.busy = 0

    @property
    def aside(self) -> int:
        """GPUs that no other job may have."""
        return max(self._profiling.aside_of(self._cluster.gpus), self.busy)

    def put(self, job: int) -> None:
        heappush(self._waiting, (self._gpus(job), job))

    def has(self, job: int) -> bool:
        return job in self._held

    def leave(self, job: int) -> None:
        """It ended, or its GPUs failed."""
        self.busy -= self._held.pop(job)
        del self._over_at[job]

    def over(self) -> list[int]:
        """Take jobs off the GPUs whose time is over, and return them."""
        done, until = [], self._until
        while until and until[0][0] <= self._cluster.now:
            at, job = heappop(until)
            if self._over_at.get(job) == at:
                self._cluster.stop(job, keep_work=False)
                self.leave(job)
                done.append(job)
        return done

    def start_fitting(self) -> None:
        cluster, room = self._cluster, self._profiling.most_of(self._cluster.gpus)
        while self._waiting:
            gpus, job = self._waiting[0]
            if self.busy + gpus > room or not cluster.start(job, gpus):
                return
            heappop(self._waiting)
            self._held[job] = gpus
            self.busy += gpus
            over_at = self._over_at[job] = cluster.now + self._profiling.seconds
            heappush(self._until, (over_at, job))
            cluster.wake_at(over_at)

    def _gpus(self, job: int) -> int:
        most = min(self._profiling.most_gpus, self._profiling.aside_of(self._cluster.gpus))
        return min(self._cluster.jobs.gpus[job], most)


TINY, MEDIUM, JUMBO = 0, 1, 2
"""How much a job would be in the way of another on the same GPUs. Lucid learns the classes with a
small decision tree from jobs measured in pairs (Tiny: at least 95 % of the speed is left on
average, Medium: 85 %). The bounds below reproduce 54 of the 66 labels that its authors published
with their simulator."""

_TINY_USE = 0.25
_MEDIUM_USE = 0.6
_LARGE_MEMORY = 0.45


def share_score(utilization: float, memory_share: float) -> int:
    """From the share of the GPU's time and memory that a job uses alone; where that is unknown
    (`nan`) the score is the highest."""
    if memory_share <= _LARGE_MEMORY:
        if utilization < _TINY_USE:
            return TINY
        if utilization < _MEDIUM_USE:
            return MEDIUM
    return JUMBO


_MUCH_LONGER = 2.0
"""A job is not put beside one that is expected to need less than a part of its own service."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A job as its profile shows it."""

    gpus: int
    score: int
    memory: float
    service: float
    """Expected GPU-seconds."""


class Hosts:
    """Jobs that run alone on their GPUs and may be joined, by size and score, longest first."""

    def __init__(self) -> None:
        self._lists: dict[tuple[int, int], list[tuple[float, int]]] = {}
        self._of: dict[int, Measured] = {}

    def add(self, job: int, measured: Measured) -> None:
        self._of[job] = measured
        insort(self._lists.setdefault((measured.gpus, measured.score), []), _entry(job, measured))

    def discard(self, job: int) -> None:
        measured = self._of.pop(job, None)
        if measured is not None:
            hosts = self._lists[measured.gpus, measured.score]
            del hosts[bisect_left(hosts, _entry(job, measured))]

    def for_(self, guest: Measured, limit: int) -> int | None:
        """The one that is in the way least, of these the longest: as many GPUs, scores within the
        limit together, room for both in memory."""
        for score in range(min(limit - guest.score, JUMBO) + 1):
            for negative, host in self._lists.get((guest.gpus, score), ()):
                if guest.service > -negative * _MUCH_LONGER:
                    break
                if self._of[host].memory + guest.memory <= 1.0:
                    return host
        return None


def _entry(job: int, measured: Measured) -> tuple[float, int]:
    return -measured.service, job

"""Which jobs are on which GPUs, how fast they run and how much of their work is done."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from heapq import heappush
from typing import Protocol

from schedmate.policies import JobColumns
from schedmate.simulator.engine.cluster import Cluster, GpuPool, Physics, Place
from schedmate.simulator.traces.columns import TraceColumns

END = 0
"""The kind of event that comes first at a moment: a run ends."""


class Watcher(Protocol):
    """Reads what running jobs print."""

    def remaining(self, job: int, done_s: float) -> float:
        """Seconds to the end by its log; `nan` where that does not tell."""


class Running:
    """The books of one run; a `ClusterView` to its policy, but for `wake_at`."""

    def __init__(
        self,
        columns: TraceColumns,
        seen: JobColumns,
        cluster: Cluster,
        *,
        physics: Physics,
        speeds: Sequence[float],
        restart_s: float,
        watcher: Watcher | None,
    ) -> None:
        self.jobs = _own(seen)
        self.now = -math.inf
        self._cluster = cluster
        self._pool = cluster if isinstance(cluster, GpuPool) else None
        self._physics = physics
        self._speeds = tuple(speeds)
        self._restart_s = restart_s
        self._watcher = watcher
        count = len(columns)
        self._asked = columns.gpus.tolist()
        self._left = columns.duration.tolist()
        self._work = columns.duration.tolist()
        self._since = [0.0] * count
        self._ran = [False] * count
        self._overhead = [0.0] * count
        self._pace = [1.0] * count
        self._served = [0.0] * count
        self._gpu_s = [0.0] * count
        self._version = [0] * count
        self._first: list[float | None] = [None] * count
        self._stops = [0] * count
        self._requeues = [0] * count
        self._seat: dict[int, Seat | None] = {}
        self._excluded: dict[int, frozenset[int]] = {}
        self._changes: list[tuple[float, int]] = []
        self._heap: list[tuple[float, int, int, int]] = []

    @property
    def gpus(self) -> int:
        return self._cluster.gpus

    @property
    def free(self) -> int:
        return self._cluster.free

    def running(self) -> Sequence[int]:
        return list(self._seat)

    def kinds(self) -> Sequence[int]:
        return self._cluster.kinds

    def speed(self, job: int, kind: int) -> float:  # noqa: ARG002 - a kind is as fast for every job
        return self._speeds[kind]

    def fits(self, job: int, gpus: int | None = None, kind: int | None = None) -> bool:
        excluded = self._excluded.get(job, frozenset())
        return self._cluster.fits(gpus or self._asked[job], kind, excluded)

    def node_gpus(self) -> Sequence[int]:
        return self._cluster.node_gpus

    def place_of(self, job: int) -> Sequence[tuple[int, int]]:
        return self._seat_of(job).place if self._pool is None else ()

    def start(
        self,
        job: int,
        gpus: int | None = None,
        kind: int | None = None,
        excluded: Collection[int] = (),
    ) -> bool:
        asked = self._asked[job]
        wanted = gpus or asked
        cluster = self._cluster
        if wanted > cluster.free:
            return False
        pool = self._pool
        if pool is not None and wanted == asked:
            pool.free -= wanted
            self._seat[job] = None
            self._changes.append((self.now, wanted))
            self._sit(job, 1.0)
            return True
        place = cluster.take(wanted, kind, self._excluded.get(job, frozenset()).union(excluded))
        if place is None:
            return False
        seat = self._seat[job] = Seat(place, wanted, [job])
        self._changes.append((self.now, wanted))
        self._sit(job, self._pace_of(job, seat))
        return True

    def start_beside(self, job: int, host: int) -> bool:
        if host not in self._seat or job in self._seat:
            return False
        seat = self._seat_of(host)
        if len(seat.members) > 1:
            return False
        self._settle(seat)
        seat.members.append(job)
        self._seat[job] = seat
        self._sit(job, self._pace_of(job, seat))
        self._repace(host, seat)
        return True

    def stop(self, job: int, *, keep_work: bool = True) -> None:
        seat = self._seat_of(job)
        self._settle(seat)
        self._stops[job] += 1
        if not keep_work:
            self._left[job] = self._work[job]
            self._ran[job] = False
        self._leave(job, seat)

    def served(self, job: int) -> float:
        since = self.now - self._since[job] if job in self._seat else 0.0
        return self._served[job] + since

    def remaining(self, job: int) -> float:
        if self._watcher is not None and job in self._seat:
            tracked = self._watcher.remaining(job, self._done(job))
            if not math.isnan(tracked):
                return tracked
        expected = self.jobs.expected[job]
        # in this order a `nan` stays one
        return max(float(expected) - self.served(job), 0.0)

    def pace(self, job: int) -> float:
        return self._pace[job]

    def utilization(self, job: int) -> float:
        return self._physics.utilization(job)

    def memory_share(self, job: int) -> float:
        return self._physics.memory_share(job)

    def nodes_of(self, job: int) -> Sequence[int]:
        return self._seat_of(job).nodes if self._pool is None else ()

    def nodes_for(self, job: int) -> Sequence[int]:
        return self._cluster.nodes_for(self._asked[job])

    def done_s(self, job: int) -> float:
        return self._done(job) if job in self._seat else float(self._work[job] - self._left[job])

    def reaches_at(self, job: int, done_s: float) -> float:
        more = done_s - (self._work[job] - self._left[job])
        return float(self._since[job] + self._overhead[job] + more / self._pace[job])

    def _sit(self, job: int, pace: float) -> None:
        """From now on it runs; a job that ran before pays for the restart first."""
        now = self._since[job] = self.now
        overhead = 0.0
        if self._ran[job]:
            overhead = self._restart_s
        else:
            self._ran[job] = True
            if self._first[job] is None:
                self._first[job] = now
        self._overhead[job] = overhead
        self._run_at(job, pace, now, overhead)
        self._began(job)

    def _began(self, job: int) -> None:
        """A run has begun."""

    def _inherited(self, job: int) -> None:
        """A job that its policy did not place holds its GPUs alone now."""

    def _run_at(self, job: int, pace: float, now: float, overhead: float) -> None:
        self._pace[job] = pace
        version = self._version[job] = self._version[job] + 1
        heappush(self._heap, (now + (overhead + self._left[job] / pace), END, job, version))

    def _done(self, job: int) -> float:
        """Seconds of its work that are done, this run's included."""
        running = max(0.0, (self.now - self._since[job]) - self._overhead[job])
        return float(self._work[job] - self._left[job] + running * self._pace[job])

    def _seat_of(self, job: int) -> Seat:
        """Most jobs run alone as they asked to, and need none until something happens to them."""
        seat = self._seat[job]
        if seat is None:
            gpus = self._asked[job]
            seat = self._seat[job] = Seat(((0, gpus),), gpus, [job])
        return seat

    def _settle(self, seat: Seat) -> None:
        """Bring the books of all on these GPUs up to now: a pace is about to change."""
        now, members = self.now, seat.members
        for job in members:
            elapsed = now - self._since[job]
            overhead = self._overhead[job]
            if elapsed > overhead:
                self._left[job] -= (elapsed - overhead) * self._pace[job]
                if overhead:
                    self._overhead[job] = 0.0
            else:
                self._overhead[job] = overhead - elapsed
            self._served[job] += elapsed
            self._gpu_s[job] += elapsed * seat.gpus / len(members)
            self._since[job] = now

    def _leave(self, job: int, seat: Seat) -> None:
        del self._seat[job]
        self._version[job] += 1
        if len(seat.members) == 1:
            self._cluster.give_back(seat.place)
            self._changes.append((self.now, -seat.gpus))
            return
        seat.members.remove(job)
        self._repace(seat.members[0], seat)
        if seat.guest is not None:
            guest, seat.guest = seat.guest, None
            if guest != job:
                self._inherited(guest)

    def _repace(self, job: int, seat: Seat) -> None:
        self._run_at(job, self._pace_of(job, seat), self._since[job], self._overhead[job])

    def _pace_of(self, job: int, seat: Seat) -> float:
        companion = next((member for member in seat.members if member != job), None)
        scattered = self._cluster.is_scattered(seat.place)
        pace = self._physics.pace(job, seat.gpus, companion, scattered=scattered)
        return pace * self._speeds[self._cluster.kind_of(seat.place)]


class Seat:
    """GPUs in use, and the jobs on them: one, or two that share."""

    __slots__ = ("gpus", "guest", "members", "place")

    def __init__(self, place: Place, gpus: int, members: list[int]) -> None:
        self.place = place
        self.gpus = gpus
        self.members = members
        self.guest: int | None = None
        """The one of them that its policy knows nothing of."""

    @property
    def nodes(self) -> Sequence[int]:
        return [node for node, _ in self.place]


def _own(seen: JobColumns) -> JobColumns:
    """The columns that change in a run, as a copy of its own."""
    return replace(
        seen,
        submit=list(seen.submit),
        planned=list(seen.planned),
        queue_key=list(seen.queue_key),
        nice=list(seen.nice),
    )

"""The event heap: time jumps from event to event, and a policy decides at each.

All that happens at one moment is reported before the policy decides, ends first, then arrivals, in
order of submission; so the outcome does not depend on the order of a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from types import MappingProxyType
from typing import Protocol

import numpy as np

from schedmate.policies import JobColumns, Policy
from schedmate.simulator.engine.cluster import Cluster, Physics, Place, Pool
from schedmate.simulator.engine.faults import Fault
from schedmate.simulator.engine.outcome import Changes, Outcome
from schedmate.simulator.traces.columns import Columns, Floats

Progress = Callable[[int, int], None]

_PROGRESS_CALLS = 200
_END, _REPAIR, _FAULT, _MISTAKE, _BACK, _WAKE = range(6)


class Recovery(Protocol):
    """What becomes of a job whose node failed, or that was stopped by mistake."""

    @property
    def mistakes(self) -> Mapping[int, float]:
        """Jobs that will be stopped once though they are sound, and after how many seconds."""

    def lost(self, job: int, node: int | None, done_s: float) -> tuple[float, float]:
        """Seconds until it waits again, and how much of what was done need not be done again.
        No node failed where it was a mistake."""


class Watcher(Protocol):
    """Reads what running jobs print."""

    def remaining(self, job: int, done_s: float) -> float:
        """Seconds to the end by its log; `nan` where that does not tell."""


class Engine:
    """One run of one policy; a `World` to it. See `World` for what its methods mean."""

    def __init__(
        self,
        columns: Columns,
        seen: JobColumns,
        policy: Policy,
        cluster: Cluster,
        *,
        physics: Physics,
        speeds: Sequence[float] = (1.0,),
        eligible: Floats | None = None,
        restart_s: float = 60.0,
        faults: Sequence[Fault] = (),
        recovery: Recovery | None = None,
        watcher: Watcher | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self.jobs = seen
        self.now = -math.inf
        self._policy = policy
        self._cluster = cluster
        self._pool = cluster if isinstance(cluster, Pool) else None
        self._physics = physics
        self._speeds = tuple(speeds)
        self._restart_s = restart_s
        self._recovery = recovery or _AtOnce()
        self._mistakes = self._recovery.mistakes
        self._watcher = watcher
        self._on_progress = on_progress
        count = len(columns)
        self._asked = columns.gpus.tolist()
        self._status = columns.status.copy()
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
        self._end = [math.nan] * count
        self._stops = [0] * count
        self._seat: dict[int, _Seat | None] = {}
        self._changes: list[tuple[float, int]] = []
        self._ended = 0
        self._heap: list[tuple[float, int, int, int]] = []
        self._faults = faults
        for number, fault in enumerate(faults):
            heappush(self._heap, (fault.at, _FAULT, number, 0))
        times = columns.submit if eligible is None else eligible
        self._order = np.argsort(times, kind="stable").tolist()
        self._times = times[self._order].tolist()

    @property
    def gpus(self) -> int:
        return self._cluster.gpus

    @property
    def free(self) -> int:
        return self._cluster.free

    def run(self) -> Outcome:
        policy, heap, times, order = self._policy, self._heap, self._times, self._order
        arrived, decide = policy.arrived, policy.decide
        versions = self._version
        count, coming = len(times), 0
        policy.begin(self)
        while self._ended < count:
            now = heap[0][0] if heap else math.inf
            if coming < count and times[coming] < now:
                now = times[coming]
            if now == math.inf:
                raise StuckError(policy.name, count - self._ended)
            self.now = now
            while heap and heap[0][0] == now:
                _, kind, which, version = heappop(heap)
                if kind != _END:
                    self._happen(kind, which)
                elif versions[which] == version:
                    self._finish(which)
            while coming < count and times[coming] == now:
                arrived(order[coming])
                coming += 1
            decide()
        return self._outcome()

    def _happen(self, kind: int, which: int) -> None:
        if kind == _BACK:
            self._policy.arrived(which)
        elif kind == _MISTAKE:
            if which in self._seat:
                self._evict(which, self._seat_of(which), None)
        elif kind == _FAULT:
            self._fail(self._faults[which])
        elif kind == _REPAIR:
            self._cluster.repair(which)

    def running(self) -> Sequence[int]:
        return list(self._seat)

    def kinds(self) -> Sequence[int]:
        return self._cluster.kinds

    def speed(self, job: int, kind: int) -> float:  # noqa: ARG002 - a kind is as fast for every job
        return self._speeds[kind]

    def fits(self, job: int, gpus: int | None = None, kind: int | None = None) -> bool:
        return self._cluster.fits(gpus or self._asked[job], kind)

    def start(self, job: int, gpus: int | None = None, kind: int | None = None) -> bool:
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
        place = cluster.take(wanted, kind)
        if place is None:
            return False
        seat = self._seat[job] = _Seat(place, wanted, [job])
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

    def wake_at(self, time: float) -> None:
        if time > self.now:
            heappush(self._heap, (time, _WAKE, 0, 0))

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
                if job in self._mistakes:
                    heappush(self._heap, (now + self._mistakes[job], _MISTAKE, job, 0))
        self._overhead[job] = overhead
        self._run_at(job, pace, now, overhead)

    def _run_at(self, job: int, pace: float, now: float, overhead: float) -> None:
        self._pace[job] = pace
        version = self._version[job] = self._version[job] + 1
        heappush(self._heap, (now + (overhead + self._left[job] / pace), _END, job, version))

    def _done(self, job: int) -> float:
        """Seconds of its work that are done, this run's included."""
        running = max(0.0, (self.now - self._since[job]) - self._overhead[job])
        return float(self._work[job] - self._left[job] + running * self._pace[job])

    def _seat_of(self, job: int) -> _Seat:
        """Most jobs run alone as they asked to, and need none until something happens to them."""
        seat = self._seat[job]
        if seat is None:
            gpus = self._asked[job]
            seat = self._seat[job] = _Seat(((0, gpus),), gpus, [job])
        return seat

    def _settle(self, seat: _Seat) -> None:
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

    def _leave(self, job: int, seat: _Seat) -> None:
        del self._seat[job]
        self._version[job] += 1
        if len(seat.members) == 1:
            self._cluster.give_back(seat.place)
            self._changes.append((self.now, -seat.gpus))
            return
        seat.members.remove(job)
        self._repace(seat.members[0], seat)

    def _repace(self, job: int, seat: _Seat) -> None:
        self._run_at(job, self._pace_of(job, seat), self._since[job], self._overhead[job])

    def _pace_of(self, job: int, seat: _Seat) -> float:
        companion = next((member for member in seat.members if member != job), None)
        scattered = self._cluster.is_scattered(seat.place)
        pace = self._physics.pace(job, seat.gpus, companion, scattered=scattered)
        return pace * self._speeds[self._cluster.kind_of(seat.place)]

    def _finish(self, job: int) -> None:
        now = self._end[job] = self.now
        pool = self._pool
        if pool is not None and self._seat[job] is None:
            gpus = self._asked[job]
            elapsed = now - self._since[job]
            self._served[job] += elapsed
            self._gpu_s[job] += elapsed * gpus
            del self._seat[job]
            pool.free += gpus
            self._changes.append((now, -gpus))
        else:
            seat = self._seat_of(job)
            self._settle(seat)
            self._leave(job, seat)
        self._ended += 1
        self._policy.ended(job)
        if self._on_progress is not None:
            self._tell_progress(self._on_progress)

    def _tell_progress(self, tell: Progress) -> None:
        total = len(self._end)
        if self._ended % max(1, total // _PROGRESS_CALLS) == 0:
            tell(self._ended, total)

    def _fail(self, fault: Fault) -> None:
        held = [(job, self._seat_of(job)) for job in self._seat]
        hit = [(job, seat) for job, seat in held if seat.is_on(fault.node)]
        self._cluster.fail(fault.node)
        heappush(self._heap, (fault.until, _REPAIR, fault.node, 0))
        for job, seat in hit:
            self._evict(job, seat, fault.node)

    def _evict(self, job: int, seat: _Seat, node: int | None) -> None:
        self._settle(seat)
        delay, kept = self._recovery.lost(job, node, self._work[job] - self._left[job])
        self._left[job] = self._work[job] - kept
        self._stops[job] += 1
        self._leave(job, seat)
        self._policy.evicted(job)
        heappush(self._heap, (self.now + delay, _BACK, job, 0))

    def _outcome(self) -> Outcome:
        return Outcome(
            start=np.array(self._first, dtype=np.float64),
            end=np.array(self._end),
            gpu_seconds=np.array(self._gpu_s),
            preemptions=np.array(self._stops, dtype=np.int64),
            status=self._status,
            changes=Changes(
                np.array([at for at, _ in self._changes]),
                np.array([more for _, more in self._changes], dtype=np.int64),
            ),
        )


class _AtOnce:
    """Nothing is lost but the restart."""

    mistakes: Mapping[int, float] = MappingProxyType({})

    def lost(self, job: int, node: int | None, done_s: float) -> tuple[float, float]:  # noqa: ARG002 - the same for every job
        return 0.0, done_s


class _Seat:
    """GPUs in use, and the jobs on them: one, or two that share."""

    __slots__ = ("gpus", "members", "place")

    def __init__(self, place: Place, gpus: int, members: list[int]) -> None:
        self.place = place
        self.gpus = gpus
        self.members = members

    def is_on(self, node: int) -> bool:
        return any(other == node for other, _ in self.place)


class StuckError(AssertionError):
    """A policy that leaves jobs waiting for ever: a defect of the policy."""

    def __init__(self, policy: str, waiting: int) -> None:
        super().__init__(f"{policy} lets {waiting} jobs wait for ever")

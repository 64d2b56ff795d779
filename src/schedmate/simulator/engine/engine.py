"""The event heap: time jumps from event to event, and a policy decides at each.

All that happens at one moment is reported before the policy decides, ends first, then arrivals, in
order of submission; so the outcome does not depend on the order of a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from heapq import heappop, heappush

import numpy as np

from schedmate.model import JobState
from schedmate.policies import JobColumns, Policy
from schedmate.simulator.engine.cluster import Cluster, Physics
from schedmate.simulator.engine.faults import Fault
from schedmate.simulator.engine.outcome import GpuChanges, SimulationOutcome
from schedmate.simulator.engine.running import END, Running, Seat, Watcher
from schedmate.simulator.engine.steering import AtOnce, Beside, Recovery
from schedmate.simulator.traces.columns import STATES, Floats, TraceColumns

Progress = Callable[[int, int], None]

_PROGRESS_CALLS = 200
_REPAIR, _FAULT, _BACK, _WAKE, _LIMIT, _CALL = range(END + 1, END + 7)
_BY_HAND, _REQUEUED = range(2)


class SimulationEngine(Running):
    """One run of one policy: a `ClusterView` to it, `Steered` for what stands beside it."""

    def __init__(
        self,
        columns: TraceColumns,
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
        beside: Beside | None = None,
        nice_range: int | None = None,
        over_time_limit_s: float = 0.0,
        on_progress: Progress | None = None,
    ) -> None:
        super().__init__(
            columns,
            seen,
            cluster,
            physics=physics,
            speeds=speeds,
            restart_s=restart_s,
            watcher=watcher,
        )
        self._policy = policy
        self._beside = beside
        self._nice_range = nice_range
        self._over_s = over_time_limit_s
        self._recovery = recovery or AtOnce(columns.duration.tolist())
        self._on_progress = on_progress
        self._limits = columns.limit.tolist()
        self._status = columns.status.copy()
        self._end = [math.nan] * len(columns)
        self._ended = 0
        self._place = list(self.jobs.queue_key)
        self._lowered: dict[int, float] = {}
        """Limits below those that the users asked for: a run that meets one is killed."""
        self._returns = [0] * len(columns)
        self._away: set[int] = set()
        """Jobs that hold no GPUs and do not wait yet."""
        self._coming = 0
        self._stirred = True
        """Whether something happened that a policy may decide upon."""
        self._faults = faults
        for number, fault in enumerate(faults):
            heappush(self._heap, (fault.at, _FAULT, number, 0))
        times = columns.submit if eligible is None else eligible
        self._order = np.argsort(times, kind="stable").tolist()
        self._times = times[self._order].tolist()

    def run(self) -> SimulationOutcome:
        policy, heap, times = self._policy, self._heap, self._times
        decide, count = policy.decide, len(times)
        policy.begin(self)
        if self._beside is not None:
            self._beside.begin(self)
        if self._on_progress is not None:
            self._on_progress(0, count)
        while self._ended < count:
            now = heap[0][0] if heap else math.inf
            if self._coming < count:
                now = min(now, times[self._coming])
            if now == math.inf:
                raise StuckError(policy.name, count - self._ended)
            self.now = now
            self._stirred = False
            self._happen_until(_CALL)
            self._arrive()
            self._happen_until(_CALL + 1)  # what stands beside looks last
            if self._stirred:
                decide()
        return self._outcome()

    def _happen_until(self, last: int) -> None:
        """All of this moment whose kind is before the last, in the order of kinds."""
        heap, now, versions = self._heap, self.now, self._version
        while heap and heap[0][0] == now and heap[0][1] < last:
            _, kind, which, version = heappop(heap)
            if kind != END:
                self._happen(kind, which, version)
            elif versions[which] == version:
                self._finish(which)

    def _arrive(self) -> None:
        times, count, beside = self._times, len(self._times), self._beside
        while self._coming < count and times[self._coming] == self.now:
            job = self._order[self._coming]
            self._coming += 1
            self._stirred = True
            self._policy.arrived(job)
            if beside is not None:
                beside.submitted(job)

    def _happen(self, kind: int, which: int, version: int) -> None:
        if kind == _CALL:
            if self._beside is not None:
                self._beside.called(which, version)
            return
        self._stirred = True
        if kind == _BACK:
            self._come_back(which, version)
        elif kind == _LIMIT:
            self._meet_limit(which, version)
        elif kind == _FAULT:
            self._fail(self._faults[which])
        elif kind == _REPAIR:
            self._cluster.repair(which)

    def _began(self, job: int) -> None:
        if self._beside is not None:
            if job in self._lowered:
                self._push_limit(job)
            self._beside.started(job)

    def stop(self, job: int, *, keep_work: bool = True) -> None:
        super().stop(job, keep_work=keep_work)
        if self._beside is not None:
            self._beside.preempted(job)

    def wake_at(self, time: float) -> None:
        if time > self.now:
            heappush(self._heap, (time, _WAKE, 0, 0))

    def _finish(self, job: int, *, killed: bool = False) -> None:
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
        self._stirred = True
        self._policy.ended(job)
        if self._beside is not None:
            self._beside.ended(job, killed=killed)
        if self._on_progress is not None:
            self._tell_progress(self._on_progress)

    def _tell_progress(self, tell: Progress) -> None:
        """Also of the first jobs, one by one and then ever more seldom: they show the pace."""
        total, ended = len(self._end), self._ended
        if ended % max(1, total // _PROGRESS_CALLS) == 0 or not ended & (ended - 1):
            tell(ended, total)

    def _fail(self, fault: Fault) -> None:
        held = [(job, self._seat_of(job)) for job in self._seat]
        hit = [(job, seat) for job, seat in held if fault.node in seat.nodes]
        self._cluster.fail(fault.node)
        heappush(self._heap, (fault.until, _REPAIR, fault.node, 0))
        for job, seat in hit:
            nodes = seat.nodes
            self._interrupt(job, seat)
            self._push_return(job, self._recovery.by_hand_s(job), _BY_HAND)
            if self._beside is not None:
                self._beside.failed(job, nodes)

    def _interrupt(self, job: int, seat: Seat) -> None:
        self._settle(seat)
        self._work[job], kept = self._recovery.restarts_with(job, self._work[job] - self._left[job])
        self._left[job] = self._work[job] - kept
        self._requeues[job] += 1
        self._stirred = True
        self._leave(job, seat)
        self._away.add(job)
        self._policy.evicted(job)

    def _push_return(self, job: int, delay_s: float, why: int) -> None:
        """It waits again then, unless something else brings it back before."""
        self._returns[job] += 2
        heappush(self._heap, (self.now + delay_s, _BACK, job, self._returns[job] + why))

    def _come_back(self, job: int, version: int) -> None:
        if version - version % 2 != self._returns[job]:
            return
        jobs = self.jobs
        self._away.discard(job)
        jobs.submit[job] = self.now
        self._place[job] = self._coming - 0.5
        by_hand = version % 2 == _BY_HAND
        if by_hand:
            jobs.nice[job] = 0
            jobs.planned[job] = self._limits[job]
            self._lowered.pop(job, None)
            self._excluded.pop(job, None)
        jobs.queue_key[job] = self._place[job] + jobs.nice[job]
        self._policy.arrived(job)
        if by_hand and self._beside is not None:
            self._beside.submitted(job)

    @property
    def nice_an_hour(self) -> float | None:
        return self._policy.nice_an_hour

    @property
    def most_nice(self) -> int:
        return self._nice_range or self._policy.nice_range

    def priority(self, job: int) -> int:
        return self._policy.priority(job)

    def set_nice(self, job: int, nice: int) -> None:
        self.jobs.nice[job] = nice
        self.jobs.queue_key[job] = self._place[job] + nice
        self._stirred = True
        self._policy.changed(job)

    def set_time_limit(self, job: int, seconds: float | None) -> None:
        limit = math.inf if seconds is None else seconds
        self.jobs.planned[job] = limit
        if limit < self._limits[job]:
            self._lowered[job] = limit
            if job in self._seat:
                self._push_limit(job)
        else:
            self._lowered.pop(job, None)
        self._stirred = True
        self._policy.changed(job)

    def requeue(self, job: int, *, exclude_nodes: Collection[int], delay_s: float) -> None:
        if job in self._seat:
            self._interrupt(job, self._seat_of(job))
        self._excluded[job] = frozenset(exclude_nodes)
        self._push_return(job, delay_s, _REQUEUED)

    def hold_back(self, job: int) -> None:
        """Queue a running job again, held until it is released."""
        self._interrupt(job, self._seat_of(job))
        self.jobs.submit[job] = self.now
        self._excluded.pop(job, None)
        self._returns[job] += 2

    def release(self, job: int, delay_s: float) -> None:
        self._push_return(job, delay_s, _REQUEUED)

    @property
    def lets_share(self) -> bool:
        return self._policy.lets_share

    def share(self, job: int, host: int) -> bool:
        """Whether a waiting job could be started on the GPUs of a running one."""
        if job in self._away or not self.start_beside(job, host):
            return False
        self._seat_of(host).guest = job
        self._policy.withdrawn(job)
        return True

    def _inherited(self, job: int) -> None:
        self._policy.inherited(job)

    def cancel(self, job: int) -> None:
        """End a run for good."""
        self._status[job] = STATES.index(JobState.CANCELLED)
        self._finish(job)
        self._version[job] += 1

    def resubmit(self, job: int, delay_s: float) -> None:
        """Its owner ends its run, or it has failed, and its owner submits it again later."""
        self._interrupt(job, self._seat_of(job))
        self._push_return(job, delay_s, _BY_HAND)

    def call_at(self, time: float, job: int, purpose: int) -> None:
        heappush(self._heap, (time, _CALL, job, purpose))

    def _push_limit(self, job: int) -> None:
        until = self._since[job] + self._lowered[job] + self._over_s
        heappush(self._heap, (until, _LIMIT, job, self._version[job]))

    def _meet_limit(self, job: int, version: int) -> None:
        limit = self._lowered.get(job)
        overdue = limit is not None and self.now >= self._since[job] + limit + self._over_s
        if overdue and job in self._seat and self._version[job] == version:
            self._status[job] = STATES.index(JobState.TIMEOUT)
            self._finish(job, killed=True)
            self._version[job] += 1

    def _outcome(self) -> SimulationOutcome:
        return SimulationOutcome(
            start=np.array(self._first, dtype=np.float64),
            end=np.array(self._end),
            gpu_seconds=np.array(self._gpu_s),
            preemptions=np.array(self._stops, dtype=np.int64),
            requeues=np.array(self._requeues, dtype=np.int64),
            status=self._status,
            changes=GpuChanges(
                np.array([at for at, _ in self._changes]),
                np.array([more for _, more in self._changes], dtype=np.int64),
            ),
        )


class StuckError(AssertionError):
    """A policy that leaves jobs waiting for ever: a defect of the policy."""

    def __init__(self, policy: str, waiting: int) -> None:
        super().__init__(f"{policy} lets {waiting} jobs wait for ever")

"""Lucid (ASPLOS'23): measure every job first, then shortest expected service first, two on a GPU
where they hardly slow each other down.

- A job runs on the profiler's GPUs first, see `Profiler`. The time counts: it is part of the job's
  completion time, and what it did there is lost unless it ended there. (The authors' simulator
  profiles in a cluster of its own and lets jobs begin anew at their submission.)
- Then by expected GPU-seconds (Lucid's estimates: an explainable boosting machine), as they fit.
- A job that does not fit joins one of equal size that runs alone, where their sharing scores are at
  most 2 together, memory holds both and the host is not much shorter; jobs of more than a node's
  GPUs do not share. (The authors' simulator looks for a host even when GPUs are free:
  `share_first`.) Of each size and score the head of the queue is considered.
- Where few jobs come, nothing is shared. Lucid forecasts the hour to come; here the last hour
  stands for it. As in the authors' simulator two jobs an hour are few.

`skip_profiling` names jobs that are known well enough from their neighbours; `unpack_below` undoes
a pair, once watched for `watch_s`, whose two paces come to less than that together: at 1 they get
no more done than one after the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace

from schedmate.model import BadInput
from schedmate.policies.base import Answers, ClusterView, Policy
from schedmate.policies.disciplines import ExpectedDurations
from schedmate.policies.lucid_parts import Hosts, Measured, Profiler, Profiling, share_score

_HOUR_S = 3600.0
_LONG = 2.0
"""Times what profiling takes that a job must be expected to run for profiling to be a loss."""
_SLOW_PAIR = 1.0
"""Paces of two jobs that share GPUs, added up, below which they are parted: sharing is a loss."""


class Lucid(Policy):
    name = "lucid"
    kind = "asking"
    orders_by = "service"
    preempts = True
    asks_for = frozenset({"duration", "throughput"})
    source = "ebm"

    def __init__(
        self,
        *,
        profiling: Profiling | None = None,
        share_limit: int = 2,
        largest_shared: int = 8,
        few_an_hour: int = 2,
        share_first: bool = False,
        skip_profiling: Callable[[int], bool] | None = None,
        unpack_below: float | None = None,
        watch_s: float = 120.0,
    ) -> None:
        if share_limit < 0 or watch_s <= 0.0:
            raise BadInput("lucid's share limit is 0 or above, and it watches for more than 0 s")
        self._profiling = profiling or Profiling()
        self._share_limit = share_limit
        self._largest_shared = largest_shared
        self._few_an_hour = few_an_hour
        self._share_first = share_first
        self._skip = skip_profiling
        self._unpack_below = unpack_below
        self._watch_s = watch_s

    @classmethod
    def answered(cls, answers: Answers) -> Policy:
        """Long jobs that are known well are not profiled; short ones would end in the profiler
        before they could be started elsewhere."""
        skip = None
        if answers.sure is not None and answers.expected_s is not None:
            long = answers.expected_s > _LONG * Profiling().seconds
            skip = (answers.sure & long).tolist().__getitem__
        return cls(
            skip_profiling=skip, unpack_below=_SLOW_PAIR if answers.part_slow_pairs else None
        )

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._gpus = cluster.jobs.gpus
        self._expectation = ExpectedDurations(cluster.jobs.expected)
        self._profiler = Profiler(cluster, self._profiling)
        self._hosts = Hosts()
        self._known: dict[int, Measured] = {}
        self._queues: dict[tuple[int, int], list[tuple[float, int]]] = {}
        self._beside: dict[int, int] = {}
        self._alone_only: set[int] = set()
        self._watched: list[tuple[float, int, int]] = []
        self._lately: deque[float] = deque()
        self._used = 0
        self._changed = False
        self._state = (0, 0, 0)

    def arrived(self, job: int) -> None:
        self._expectation.submitted(job)
        self._lately.append(self._cluster.now)
        if job in self._known or (self._skip is not None and self._skip(job)):
            self._enqueue(job)
        else:
            self._profiler.put(job)

    def ended(self, job: int) -> None:
        self._changed = True
        if self._profiler.has(job):
            self._profiler.leave(job)
        else:
            self._vacate(job)

    evicted = ended

    def decide(self) -> None:
        for job in self._profiler.over():
            self._enqueue(job)
        if self._watched:
            self._undo_slow_pairs()
        if not self._one_needs_all():
            self._profiler.start_fitting()
        state = (self._limit_now(), self._cluster.gpus, self._profiler.aside)
        if self._changed or state != self._state:
            self._changed, self._state = False, state
            self._start_fitting(state[0])

    def _enqueue(self, job: int) -> None:
        self._changed = True
        known = self._known.get(job) or self._measure(job)
        heappush(self._queues.setdefault((known.gpus, known.score), []), (known.service, job))

    def _measure(self, job: int) -> Measured:
        cluster, gpus = self._cluster, self._gpus[job]
        memory = cluster.memory_share(job)
        score = share_score(cluster.utilization(job), memory)
        service = self._expectation.submitted(job) * gpus
        known = self._known[job] = Measured(gpus, score, memory, service)
        return known

    def _start_fitting(self, limit: int) -> None:
        """Heads of the queues by expected service; a queue whose head must wait waits."""
        heads = [(line[0], at) for at, line in self._queues.items() if line]
        heapify(heads)
        while heads:
            (_, job), at = heads[0]
            line = self._queues[at]
            if not self._place(job, limit):
                heappop(heads)
                continue
            heappop(line)
            if line:
                heapreplace(heads, (line[0], at))
            else:
                heappop(heads)

    def _place(self, job: int, limit: int) -> bool:
        if self._share_first:
            return bool(limit and self._join(job, limit)) or self._start(job)
        return self._start(job) or bool(limit and self._join(job, limit))

    def _start(self, job: int) -> bool:
        gpus = self._gpus[job]
        if gpus > self._room_for(gpus) or not self._cluster.start(job):
            return False
        self._used += gpus
        self._may_host(job)
        return True

    def _room_for(self, gpus: int) -> int:
        """What the profiler does not set aside; a job that needs that as well may have it."""
        ours = self._cluster.gpus - self._profiler.aside
        return (ours if gpus <= ours else self._cluster.gpus - self._profiler.busy) - self._used

    def _one_needs_all(self) -> bool:
        """Whether a job waits only for the GPUs that the profiler sets aside."""
        whole = self._cluster.gpus
        ours = whole - self._profiler.aside
        return any(
            ours < gpus <= whole - self._used for (gpus, _), line in self._queues.items() if line
        )

    def _join(self, job: int, limit: int) -> bool:
        known = self._known[job]
        if known.gpus > self._largest_shared or job in self._alone_only:
            return False
        host = self._hosts.for_(known, limit)
        if host is None or not self._cluster.start_beside(job, host):
            return False
        self._hosts.discard(host)
        self._beside[job], self._beside[host] = host, job
        if self._unpack_below is not None:
            self._watched.append((self._cluster.now + self._watch_s, job, host))
            self._cluster.wake_at(self._cluster.now + self._watch_s)
        return True

    def _vacate(self, job: int) -> None:
        """It holds no GPUs any more; a job beside it has them alone."""
        other = self._beside.pop(job, None)
        if other is None:
            self._hosts.discard(job)
            self._used -= self._gpus[job]
        else:
            del self._beside[other]
            self._may_host(other)

    def _may_host(self, job: int) -> None:
        if self._gpus[job] <= self._largest_shared and job not in self._alone_only:
            self._hosts.add(job, self._known[job])

    def _undo_slow_pairs(self) -> None:
        """The one that came to the other begins anew, and shares no more."""
        due = [pair for pair in self._watched if pair[0] <= self._cluster.now]
        self._watched = self._watched[len(due) :]
        for _, guest, host in due:
            together = self._beside.get(guest) == host
            if together and self._paces(guest, host) < (self._unpack_below or 0.0):
                self._alone_only.add(guest)
                self._cluster.stop(guest, keep_work=False)
                self._vacate(guest)
                self._enqueue(guest)

    def _paces(self, guest: int, host: int) -> float:
        return self._cluster.pace(guest) + self._cluster.pace(host)

    def _limit_now(self) -> int:
        while self._lately and self._lately[0] <= self._cluster.now - _HOUR_S:
            self._lately.popleft()
        return self._share_limit if len(self._lately) > self._few_an_hour else 0

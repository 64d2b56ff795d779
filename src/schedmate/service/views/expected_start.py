"""When waiting jobs could start, by the predicted ends of what runs and waits before them.

Jobs of one partition start in their order as soon as enough is free; what is known to have been in
use at once is taken for what there is. Nodes that a job requires by name are free once all that
runs on them has ended. Where an end is unknown, so is all that depends on it.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.service.views.queue_order import may_start, turn

if TYPE_CHECKING:
    from schedmate.model import Job, JobId
    from schedmate.service.views.job_view import JobView
    from schedmate.service.views.site_load import Use

_TURN = frozenset({"", "Priority", "Resources", "Cleaning", "SchedDefer", "Prolog"})
"""Reasons of jobs that wait for their turn; another one may last however much is free."""
_NO_ROOM = "Resources"
"""Slurm's reason of a job for which too little is free, whatever was in use at once before."""


def most_at_once(uses: Iterable[Use]) -> dict[str, int]:
    """The most GPUs, or jobs where none asks for any, that ran at once in each partition."""
    edges: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for use in uses:
        amount = max(1, use.amount)
        edges[use.partition] += [(use.begin, amount), (use.end, -amount)]
    found = {}
    for partition, changes in edges.items():
        in_use = most = 0
        for _, amount in sorted(changes):
            in_use += amount
            most = max(most, in_use)
        found[partition] = most
    return found


def expected_starts(
    views: Iterable[JobView], capacity: Mapping[str, int], now: float
) -> dict[JobId, float]:
    """Seconds from now; a job is left out where that is not known."""
    by_partition: dict[str, list[JobView]] = defaultdict(list)
    free_at: dict[str, float] = defaultdict(float)
    for view in views:
        by_partition[view.job.request.partition or ""].append(view)
        if view.job.state is JobState.RUNNING:
            for node in view.job.nodes:
                free_at[node] = max(free_at[node], _left_s(view, now))
    starts: dict[JobId, float] = {}
    for partition, group in by_partition.items():
        if partition in capacity:
            starts |= _starts(group, capacity[partition], free_at, now)
    return starts


def _starts(
    group: list[JobView], capacity: int, free_at: dict[str, float], now: float
) -> dict[JobId, float]:
    """`free_at`: in how many seconds all that runs on a node has ended, of all partitions."""
    running = [view for view in group if view.job.state is JobState.RUNNING]
    ends = [(_left_s(view, now), _size(view.job)) for view in running]
    free = max(0, capacity - sum(size for _, size in ends))
    heapq.heapify(ends)
    starts: dict[JobId, float] = {}
    at = 0.0
    for view in sorted(
        (one for one in group if may_start(one.job, now)), key=lambda one: turn(one.job)
    ):
        size = _size(view.job)
        if size > capacity or view.job.reason not in _TURN:
            continue
        own = _claimed(view, at, free_at)
        if own > at:
            # jobs behind it may start before on other nodes
            if math.isfinite(own):
                starts[view.job.id] = own
                heapq.heappush(ends, (own, -size))
                heapq.heappush(ends, (own + _whole_s(view), size))
            continue
        if at == 0.0 and free >= size and view.job.reason == _NO_ROOM:
            if not ends or any(math.isinf(end) for end, _ in ends):
                break
            free = 0
        while free < size and ends:
            end, freed = heapq.heappop(ends)
            at, free = max(at, end), free + freed
        if free < size or math.isinf(at):
            break
        starts[view.job.id] = at
        free -= size
        heapq.heappush(ends, (at + _whole_s(view), size))
    return starts


def _claimed(view: JobView, at: float, free_at: dict[str, float]) -> float:
    """When the nodes that it requires by name are free, which are its own from then on."""
    required = view.job.request.required_nodes
    start = max([at, *(free_at[node] for node in required)])
    for node in required:
        free_at[node] = start + _whole_s(view)
    return start


def _size(job: Job) -> int:
    return max(1, job.request.gpus)


def _left_s(view: JobView, now: float) -> float:
    left = view.remaining_s(now)
    if left is not None and not left.too_wide:
        return left.p50
    limit, begun = view.job.request.time_limit_s, view.job.start_time
    return math.inf if limit is None or begun is None else max(0.0, begun + limit - now)


def _whole_s(view: JobView) -> float:
    if view.predicted is not None and not view.predicted.too_wide:
        return view.predicted.p50
    limit = view.job.request.time_limit_s
    return math.inf if limit is None else limit

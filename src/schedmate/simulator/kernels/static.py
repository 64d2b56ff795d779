"""Jobs in an order that does not change, each run once from start to end.

Ends at one moment come before arrivals; all waiting jobs are then considered in order of key and
submission.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.kernels.compiled import compiled
from schedmate.simulator.kernels.structures import pop, push, sizes_of
from schedmate.simulator.traces.columns import Floats, Ints


@compiled
def in_turn(eligible: Floats, duration: Floats, gpus: Ints, total: int) -> tuple[Floats, Floats]:
    """Strictly by submission, and in order already: no heap of waiting jobs is needed."""
    count = len(gpus)
    start = np.empty(count)
    end = np.empty(count)
    ends = np.empty(min(count, total) + 1)
    held = np.empty(min(count, total) + 1, dtype=np.int64)
    running = 0
    free = total
    now = -np.inf
    for job in range(count):
        now = max(now, eligible[job])
        while running and ends[0] <= now:
            free += held[0]
            pop(ends, held, 0, running)
            running -= 1
        while free < gpus[job]:
            now = ends[0]
            free += held[0]
            pop(ends, held, 0, running)
            running -= 1
        start[job] = now
        end[job] = now + duration[job]
        free -= gpus[job]
        push(ends, held, 0, running, end[job], gpus[job])
        running += 1
    return start, end


@compiled
def strict(
    arrivals: Ints, eligible: Floats, duration: Floats, gpus: Ints, key: Floats, total: int
) -> tuple[Floats, Floats]:
    """No job overtakes the head of the queue."""
    count = len(gpus)
    start = np.empty(count)
    end = np.empty(count)
    ends = np.empty(min(count, total) + 1)
    held = np.empty(min(count, total) + 1, dtype=np.int64)
    keys = np.empty(count)
    jobs = np.empty(count, dtype=np.int64)
    running = waiting = coming = 0
    free = total
    while coming < count or waiting:
        now = ends[0] if running else np.inf
        if coming < count and eligible[arrivals[coming]] < now:
            now = eligible[arrivals[coming]]
        while running and ends[0] == now:
            free += held[0]
            pop(ends, held, 0, running)
            running -= 1
        while coming < count and eligible[arrivals[coming]] == now:
            job = arrivals[coming]
            push(keys, jobs, 0, waiting, key[job], job)
            waiting += 1
            coming += 1
        while waiting and gpus[jobs[0]] <= free:
            job = jobs[0]
            pop(keys, jobs, 0, waiting)
            waiting -= 1
            start[job] = now
            end[job] = now + duration[job]
            free -= gpus[job]
            push(ends, held, 0, running, end[job], gpus[job])
            running += 1
    return start, end


@compiled
def first_fit(
    arrivals: Ints, eligible: Floats, duration: Floats, gpus: Ints, key: Floats, total: int
) -> tuple[Floats, Floats]:
    """A job that fits may overtake one that does not: a heap for each size, of which the first is
    considered. Free GPUs only shrink while jobs are started, so a job that did not fit need not be
    tried again."""
    count = len(gpus)
    start = np.empty(count)
    end = np.empty(count)
    ends = np.empty(min(count, total) + 1)
    held = np.empty(min(count, total) + 1, dtype=np.int64)
    sizes, number_of, begins = sizes_of(gpus)
    keys = np.empty(count)
    jobs = np.empty(count, dtype=np.int64)
    waiting = np.zeros(len(sizes), dtype=np.int64)
    running = coming = started = 0
    free = total
    while started < count:
        now = ends[0] if running else np.inf
        if coming < count and eligible[arrivals[coming]] < now:
            now = eligible[arrivals[coming]]
        while running and ends[0] == now:
            free += held[0]
            pop(ends, held, 0, running)
            running -= 1
        while coming < count and eligible[arrivals[coming]] == now:
            job = arrivals[coming]
            number = number_of[job]
            push(keys, jobs, begins[number], waiting[number], key[job], job)
            waiting[number] += 1
            coming += 1
        while free:
            best = -1
            for number in range(len(sizes)):
                if sizes[number] > free:
                    break
                if waiting[number]:
                    here = begins[number]
                    there = begins[best]
                    if (
                        best < 0
                        or keys[here] < keys[there]
                        or (keys[here] == keys[there] and jobs[here] < jobs[there])
                    ):
                        best = number
            if best < 0:
                break
            job = jobs[begins[best]]
            pop(keys, jobs, begins[best], waiting[best])
            waiting[best] -= 1
            start[job] = now
            end[job] = now + duration[job]
            free -= sizes[best]
            push(ends, held, 0, running, end[job], sizes[best])
            running += 1
            started += 1
    return start, end

"""EASY backfill, by rank in the queue: which jobs may overtake without delaying the head.

The rules are those of the policy. A job without a limit has a finite plan here.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.kernels.compiled import compiled, part
from schedmate.simulator.kernels.structures import (
    first,
    insert,
    plant,
    pop,
    push,
    put,
    remove,
    sizes_of,
)
from schedmate.simulator.traces.columns import Floats, Ints


@part
def jobs_by(rank: Ints) -> Ints:
    job_at = np.empty(len(rank), dtype=np.int64)
    for job in range(len(rank)):
        job_at[rank[job]] = job
    return job_at


@part
def members_of(rank: Ints, number_of: Ints, begins: Ints) -> tuple[Ints, Ints]:
    """The jobs of each size in order of rank, and each job's place among those of its size."""
    members = np.empty(len(rank), dtype=np.int64)
    place_of = np.empty(len(rank), dtype=np.int64)
    next_place = np.zeros(len(begins) - 1, dtype=np.int64)
    for job in jobs_by(rank):
        number = number_of[job]
        place_of[job] = next_place[number]
        members[begins[number] + next_place[number]] = job
        next_place[number] += 1
    return members, place_of


@part
def reservation(
    ends: Floats, held: Ints, running: int, late: int, room: int, wanted: int, now: float
) -> tuple[float, int]:
    """When so many GPUs are planned to be free, and how many more; `room` has those of the late."""
    when = now
    if room < wanted:
        for place in range(late, running):
            if room >= wanted and ends[place] > when:
                break
            room += held[place]
            when = ends[place]
    return when, room - wanted


@part
def first_harmless(
    free: int,
    beside: int,
    now: float,
    by: float,
    sizes: Ints,
    begins: Ints,
    members: Ints,
    rank: Ints,
    trees: Floats,
    roots: Ints,
    leaves: Ints,
) -> int:
    """The first that fits and is done in time or fits beside the reservation; -1 if none."""
    best = -1
    for number in range(len(sizes)):
        if sizes[number] > free:
            break
        root = roots[number]
        until = 1e300 if sizes[number] <= beside else by
        if now + trees[root + 1] <= until:
            place = first(trees, root, leaves[number], now, until)
            job = members[begins[number] + place]
            if best < 0 or rank[job] < rank[best]:
                best = job
    return best


@compiled
def easy(
    arrivals: Ints,
    eligible: Floats,
    duration: Floats,
    gpus: Ints,
    rank: Ints,
    plan: Floats,
    total: int,
) -> tuple[Floats, Floats]:
    """One loop over all events: what a job touches stays in the processor's cache."""
    count = len(gpus)
    start = np.full(count, np.nan)
    end = np.empty(count)
    sizes, number_of, begins = sizes_of(gpus)
    members, place_of = members_of(rank, number_of, begins)
    trees, roots, leaves = plant(begins)
    most = min(count, total) + 1
    ends, ending = np.empty(most), np.empty(most, dtype=np.int64)
    planned, held = np.empty(most), np.empty(most, dtype=np.int64)
    line, in_line = np.empty(count), np.empty(count, dtype=np.int64)
    running = waiting = coming = started = late = late_gpus = 0
    free = total
    while started < count:
        now = ends[0] if running else np.inf
        if coming < count and eligible[arrivals[coming]] < now:
            now = eligible[arrivals[coming]]
        while running and ends[0] == now:
            job = ending[0]
            pop(ends, ending, 0, running)
            place = remove(planned, held, running, start[job] + plan[job], gpus[job])
            running -= 1
            free += gpus[job]
            if place < late:
                late -= 1
                late_gpus -= gpus[job]
        while coming < count and eligible[arrivals[coming]] == now:
            job = arrivals[coming]
            coming += 1
            push(line, in_line, 0, waiting, float(rank[job]), job)
            waiting += 1
            number = number_of[job]
            put(trees, roots[number], leaves[number], place_of[job], plan[job])
        reserved = False
        by = now
        beside = 0
        while free:
            while waiting and not np.isnan(start[in_line[0]]):
                pop(line, in_line, 0, waiting)
                waiting -= 1
            if not waiting:
                break
            job = in_line[0]
            if gpus[job] > free or reserved:
                if not reserved:
                    while late < running and planned[late] <= now:
                        late_gpus += held[late]
                        late += 1
                    by, beside = reservation(
                        planned, held, running, late, free + late_gpus, gpus[job], now
                    )
                    reserved = True
                job = first_harmless(
                    free, beside, now, by, sizes, begins, members, rank, trees, roots, leaves
                )
                if job < 0:
                    break
                if now + plan[job] > by:
                    beside -= gpus[job]
            start[job] = now
            end[job] = now + duration[job]
            free -= gpus[job]
            started += 1
            number = number_of[job]
            put(trees, roots[number], leaves[number], place_of[job], np.inf)
            push(ends, ending, 0, running, end[job], job)
            place = insert(planned, held, running, now + plan[job], gpus[job])
            running += 1
            if place < late:
                late += 1
                late_gpus += gpus[job]
    return start, end

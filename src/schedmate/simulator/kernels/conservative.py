"""Conservative backfill: the first so many in line get the earliest times planned to be free.

Reservations are made anew at every decision, in order, and only as long as somebody behind could
still start at once: who starts is all that remains of a decision.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.columns import Floats, Ints
from schedmate.simulator.kernels.backfill import jobs_by, members_of
from schedmate.simulator.kernels.compiled import compiled, part
from schedmate.simulator.kernels.heaps import pop, push
from schedmate.simulator.kernels.planned import find, insert, remove
from schedmate.simulator.kernels.shortest import plant, put
from schedmate.simulator.kernels.sizes import sizes_of


@part
def profile_of(
    times: Floats, left: Ints, planned: Floats, held: Ints, running: int, free: int, now: float
) -> int:
    """How many GPUs are planned to be free from when on; says how many steps that are."""
    times[0] = now
    left[0] = free
    last = 0
    for place in range(running):
        if planned[place] > times[last]:
            last += 1
            times[last] = planned[place]
            left[last] = left[last - 1]
        left[last] += held[place]
    return last + 1


@part
def earliest(times: Floats, left: Ints, steps: int, gpus: int, plan: float) -> float:
    """From when on so many GPUs are free for so long; the last step has all."""
    begun = False
    began = np.inf
    for step in range(steps):
        if begun and times[step] >= began + plan:
            return began
        if left[step] < gpus:
            begun = False
        elif not begun:
            begun = True
            began = times[step]
    return began


@part
def cut(times: Floats, left: Ints, steps: int, time: float) -> int:
    """Let a step begin at a time; says how many there are then."""
    place = find(times, steps, time)
    if place < steps and times[place] == time:
        return steps
    for later in range(steps, place, -1):
        times[later] = times[later - 1]
        left[later] = left[later - 1]
    times[place] = time
    left[place] = left[place - 1]
    return steps + 1


@part
def reserve(times: Floats, left: Ints, steps: int, gpus: int, begin: float, end: float) -> int:
    """Take GPUs out of the plan; says how many steps there are then."""
    steps = cut(times, left, steps, end)
    step = find(times, steps, begin)
    while step < steps and times[step] < end:
        left[step] -= gpus
        step += 1
    return steps


@part
def anybody_could_start(
    times: Floats,
    left: Ints,
    steps: int,
    free: int,
    now: float,
    sizes: Ints,
    trees: Floats,
    roots: Ints,
) -> bool:
    """Whether somebody of those who wait is planned to be done before too few GPUs are free."""
    for number in range(len(sizes)):
        if sizes[number] > free:
            break
        shortest = now + trees[roots[number] + 1]
        if shortest == np.inf:
            continue
        step = 0
        while step < steps and left[step] >= sizes[number] and times[step] < shortest:
            step += 1
        if step == steps or times[step] >= shortest:
            return True
    return False


@compiled
def conservative(
    arrivals: Ints,
    eligible: Floats,
    duration: Floats,
    gpus: Ints,
    standing: Ints,
    plan: Floats,
    total: int,
    depth: int,
) -> tuple[Floats, Floats]:
    """One loop over all events: what a job touches stays in the processor's cache."""
    count = len(gpus)
    start = np.full(count, np.nan)
    end = np.empty(count)
    sizes, number_of, begins = sizes_of(gpus)
    _, place_of = members_of(standing, number_of, begins)
    job_at = jobs_by(standing)
    trees, roots, leaves = plant(begins)
    most = min(count, total) + 1
    ends, ending = np.empty(most), np.empty(most, dtype=np.int64)
    planned, held = np.empty(most), np.empty(most, dtype=np.int64)
    steps_most = 2 * most + 2 * min(count, depth) + 2
    times, left = np.empty(steps_most), np.empty(steps_most, dtype=np.int64)
    line = np.empty(count, dtype=np.int64)
    front = waiting = running = coming = started = 0
    free = total
    while started < count:
        now = ends[0] if running else np.inf
        if coming < count and eligible[arrivals[coming]] < now:
            now = eligible[arrivals[coming]]
        while running and ends[0] == now:
            job = ending[0]
            pop(ends, ending, 0, running)
            remove(planned, held, running, start[job] + plan[job], gpus[job])
            running -= 1
            free += gpus[job]
        while coming < count and eligible[arrivals[coming]] == now:
            job = arrivals[coming]
            coming += 1
            number = number_of[job]
            put(trees, roots[number], leaves[number], place_of[job], plan[job])
            place = front + waiting
            while place > front and line[place - 1] > standing[job]:
                line[place] = line[place - 1]
                place -= 1
            line[place] = standing[job]
            waiting += 1
        if not waiting or not free:
            continue
        steps = profile_of(times, left, planned, held, running, free, now)
        looked = front
        behind = front + waiting
        reserved = 0
        while (
            looked < behind
            and reserved < depth
            and anybody_could_start(times, left, steps, free, now, sizes, trees, roots)
        ):
            job = job_at[line[looked]]
            begin = earliest(times, left, steps, gpus[job], plan[job])
            steps = reserve(times, left, steps, gpus[job], begin, begin + plan[job])
            if begin == now and gpus[job] <= free:
                start[job] = now
                end[job] = now + duration[job]
                free -= gpus[job]
                started += 1
                number = number_of[job]
                put(trees, roots[number], leaves[number], place_of[job], np.inf)
                push(ends, ending, 0, running, end[job], job)
                insert(planned, held, running, now + plan[job], gpus[job])
                running += 1
                waiting -= 1
                line[looked] = -1
            else:
                reserved += 1
            looked += 1
        # those looked at move up to those who were not
        kept = looked
        for place in range(looked - 1, front - 1, -1):
            if line[place] >= 0:
                kept -= 1
                line[kept] = line[place]
        front = kept
    return start, end

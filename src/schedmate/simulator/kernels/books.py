"""The state of a preemptive run: five arrays, and how a job is started and stopped.

`book` has a row a job, `table` a row a size (a number of GPUs). `keys` and `jobs` hold three kinds
of stretches: waiting jobs, a heap for each size; running jobs, sorted for each size, the first to
be stopped at the front; and the heap of the running jobs' ends. Running jobs of one size keep their
order: all of them get nearer to their ends at one rate.

They are plain arrays, as numba counts references each time one is taken out of a tuple.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.kernels.compiled import part
from schedmate.simulator.kernels.structures import push, sizes_of
from schedmate.simulator.traces.columns import Floats, Ints

EXPECTED, SINCE, SERVED, OVERHEAD, LEFT, RANK, END, EVENT = range(8)
"""Columns of `book`. RANK orders running jobs: when each would end if all went as expected. EVENT
is its place in the heap of ends."""
GPUS, SIZE, GPU_S, START, STOPS = range(8, 13)
WIDTH = 16
ASKED, WAITERS, WAITING, RUNNERS, RUNNING = range(5)
"""Columns of `table`: GPUs, and where a stretch begins and how many are in it."""
FREE, EVENTS, MODE, AGENDA = range(4)
"""In `counts`: GPUs free (below zero while room is being made), ends to come, the mode, and where
the heap of ends begins."""
TIME, SERVICE = range(2)
"""Modes: by remaining time, or by that times GPUs."""


@part
def opened(
    mode: int, duration: Floats, gpus: Ints, expected: Floats, total: int
) -> tuple[Floats, Ints, Floats, Ints, Ints]:
    count = len(gpus)
    sizes, number_of, begins = sizes_of(gpus)
    table = np.zeros((len(sizes), 5), dtype=np.int64)
    used = count
    for number in range(len(sizes)):
        table[number, ASKED] = sizes[number]
        table[number, WAITERS] = begins[number]
        table[number, RUNNERS] = used
        # while room is made: those that will be stopped, and those that take their place
        used += min(begins[number + 1] - begins[number], 2 * (total // sizes[number]))
    book = np.zeros((count, WIDTH))
    for job in range(count):
        book[job, EXPECTED] = expected[job]
        book[job, LEFT] = duration[job]
        book[job, GPUS] = gpus[job]
        book[job, SIZE] = number_of[job]
        book[job, START] = np.nan
    counts = np.zeros(4, dtype=np.int64)
    counts[FREE], counts[MODE], counts[AGENDA] = total, mode, used
    most = 2 * used - count
    return book, table, np.empty(most), np.empty(most, dtype=np.int64), counts


@part
def key_of(book: Floats, mode: int, job: int, now: float) -> float:
    """What a running job is ordered by at a moment: the least goes first."""
    remaining = book[job, EXPECTED] - (book[job, SERVED] + (now - book[job, SINCE]))
    if remaining < 0.0:
        return 0.0
    return float(remaining * book[job, GPUS] if mode == SERVICE else remaining)


@part
def wait(book: Floats, table: Ints, keys: Floats, jobs: Ints, job: int, key: float) -> None:
    size = int(book[job, SIZE])
    push(keys, jobs, table[size, WAITERS], table[size, WAITING], key, job)
    table[size, WAITING] += 1


@part
def stand(book: Floats, table: Ints, keys: Floats, jobs: Ints, job: int) -> None:
    """Put a running job among those of its size, the highest rank first."""
    size = int(book[job, SIZE])
    begin = table[size, RUNNERS]
    rank = book[job, RANK]
    place = begin + table[size, RUNNING]
    while place > begin:
        before = keys[place - 1]
        if before > rank or (before == rank and jobs[place - 1] > job):
            break
        keys[place] = before
        jobs[place] = jobs[place - 1]
        place -= 1
    keys[place] = rank
    jobs[place] = job
    table[size, RUNNING] += 1


@part
def step_out(book: Floats, table: Ints, keys: Floats, jobs: Ints, job: int) -> None:
    """Take a running job from among those of its size."""
    size = int(book[job, SIZE])
    low = table[size, RUNNERS]
    last = low + table[size, RUNNING] - 1
    high = last
    rank = book[job, RANK]
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] > rank:
            low = middle + 1
        else:
            high = middle
    while jobs[low] != job:
        low += 1
    for place in range(low, last):
        keys[place] = keys[place + 1]
        jobs[place] = jobs[place + 1]
    table[size, RUNNING] -= 1


@part
def announce(book: Floats, keys: Floats, jobs: Ints, counts: Ints, time: float, job: int) -> None:
    """Put the end of a job into the heap."""
    rise(book, keys, jobs, counts[AGENDA], counts[EVENTS], time, job)
    counts[EVENTS] += 1


@part
def call_off(book: Floats, keys: Floats, jobs: Ints, counts: Ints, job: int) -> None:
    """Take the end of a job out of the heap: the last one takes its place."""
    counts[EVENTS] -= 1
    last = counts[AGENDA] + counts[EVENTS]
    if jobs[last] != job:
        sink(book, keys, jobs, counts, int(book[job, EVENT]), keys[last], jobs[last])


@part
def rise(
    book: Floats, keys: Floats, jobs: Ints, base: int, place: int, time: float, job: int
) -> None:
    while place > 0:
        above = (place - 1) >> 1
        if keys[base + above] <= time:
            break
        keys[base + place] = keys[base + above]
        jobs[base + place] = jobs[base + above]
        book[jobs[base + place], EVENT] = place
        place = above
    keys[base + place] = time
    jobs[base + place] = job
    book[job, EVENT] = place


@part
def sink(
    book: Floats, keys: Floats, jobs: Ints, counts: Ints, place: int, time: float, job: int
) -> None:
    """Fill a place of the heap, or one below or above it, with the end of a job."""
    base, size = counts[AGENDA], counts[EVENTS]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and keys[base + below + 1] < keys[base + below]:
            below += 1
        if keys[base + below] >= time:
            break
        keys[base + place] = keys[base + below]
        jobs[base + place] = jobs[base + below]
        book[jobs[base + place], EVENT] = place
        place = below
    rise(book, keys, jobs, base, place, time, job)


@part
def start(
    book: Floats,
    table: Ints,
    keys: Floats,
    jobs: Ints,
    counts: Ints,
    job: int,
    now: float,
    restart_s: float,
) -> None:
    """Give a job its GPUs, even if others must still leave them; its end is not in the heap yet."""
    if np.isnan(book[job, START]):
        book[job, START] = now
    else:
        book[job, OVERHEAD] = restart_s
    book[job, SINCE] = now
    book[job, END] = now + (book[job, OVERHEAD] + book[job, LEFT])
    book[job, RANK] = now + (book[job, EXPECTED] - book[job, SERVED])
    stand(book, table, keys, jobs, job)
    counts[FREE] -= int(book[job, GPUS])


@part
def settle(
    book: Floats, table: Ints, keys: Floats, jobs: Ints, counts: Ints, job: int, now: float
) -> None:
    """Take its GPUs from a job and bring its books up to now."""
    elapsed = now - book[job, SINCE]
    if elapsed > book[job, OVERHEAD]:
        book[job, LEFT] -= elapsed - book[job, OVERHEAD]
    book[job, SERVED] += elapsed
    book[job, GPU_S] += elapsed * book[job, GPUS]
    counts[FREE] += int(book[job, GPUS])
    step_out(book, table, keys, jobs, job)
    call_off(book, keys, jobs, counts, job)

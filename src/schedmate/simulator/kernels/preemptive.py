"""Shortest remaining first: which jobs stop so that those ahead of them in the order can run.

All active jobs stand in one order; each that fits into what is left by those before it is to run.
That order is never walked through. As long as no new job is chosen, all running jobs stay, so the
first change in it is the first waiting job that fits into what is left by the running jobs before
it; of one size only the first can be that. Once it is chosen there may be too few GPUs: the next to
change is then the first running job whose GPUs are no longer there, looked for from the end.
Running jobs only move forward while time passes, so a job that gained nothing gains nothing later,
until a job before it ends or falls behind it.
"""

from __future__ import annotations

import numpy as np

from schedmate.simulator.kernels.books import (
    AGENDA,
    ASKED,
    END,
    EVENTS,
    FREE,
    GPUS,
    MODE,
    RUNNERS,
    RUNNING,
    SERVICE,
    SINCE,
    SIZE,
    STOPS,
    WAITERS,
    WAITING,
    announce,
    key_of,
    opened,
    settle,
    start,
    wait,
)
from schedmate.simulator.kernels.compiled import compiled, part
from schedmate.simulator.kernels.structures import pop
from schedmate.simulator.traces.columns import Floats, Ints

_ROUNDING_S = 0.25
"""More than times of a trace are ever rounded by; within it keys are computed in full."""


@part
def key_beside(
    book: Floats, mode: int, gpus: int, rank: float, job: int, other: float, now: float
) -> float:
    """The key of a running job, near enough to tell which side of another key it is on."""
    near = max(rank - now, 0.0)
    if mode == SERVICE:
        near *= gpus
    if abs(near - other) > _ROUNDING_S * gpus:
        return near
    return key_of(book, mode, job, now)


@part
def gains(
    book: Floats, table: Ints, keys: Floats, jobs: Ints, counts: Ints, size: int, now: float
) -> bool:
    """Whether the first of a size fits into what the running jobs before it leave."""
    wanted = table[size, ASKED]
    room = counts[FREE]
    key = keys[table[size, WAITERS]]
    job = jobs[table[size, WAITERS]]
    for other in range(len(table) - 1, -1, -1):
        if room >= wanted:
            return True
        gpus = table[other, ASKED]
        begin = table[other, RUNNERS]
        for place in range(begin, begin + table[other, RUNNING]):
            theirs = key_beside(book, counts[MODE], gpus, keys[place], jobs[place], key, now)
            if theirs < key:
                break
            if theirs > key or jobs[place] > job:
                room += gpus
                if room >= wanted:
                    return True
    return bool(room >= wanted)


@part
def first_who_gains(
    book: Floats, table: Ints, keys: Floats, jobs: Ints, counts: Ints, ask: Ints, now: float
) -> int:
    """The number of its size, or -1. `ask` says which sizes may have one, and is kept so."""
    best = -1
    for size in range(len(table)):
        if not ask[size]:
            continue
        if not table[size, WAITING] or not gains(book, table, keys, jobs, counts, size, now):
            ask[size] = 0
            continue
        here, there = table[size, WAITERS], table[best, WAITERS]
        if (
            best < 0
            or keys[here] < keys[there]
            or (keys[here] == keys[there] and jobs[here] < jobs[there])
        ):
            best = size
    return best


@part
def ask_behind(table: Ints, keys: Floats, jobs: Ints, ask: Ints, key: float, job: int) -> None:
    """Only jobs behind the one whose GPUs became free may gain."""
    for size in range(len(table)):
        if table[size, WAITING]:
            theirs = keys[table[size, WAITERS]]
            if theirs > key or (theirs == key and jobs[table[size, WAITERS]] > job):
                ask[size] = 1


@part
def first_without_gpus(
    book: Floats, table: Ints, jobs: Ints, counts: Ints, passed: Ints, now: float
) -> int:
    """The running job that comes first in order among those whose GPUs are given to others."""
    missing = -counts[FREE]
    for size in range(len(table)):
        passed[size] = 0
    while True:
        last = -1
        last_key = -np.inf
        for size in range(len(table)):
            if passed[size] < table[size, RUNNING]:
                job = jobs[table[size, RUNNERS] + passed[size]]
                key = key_of(book, counts[MODE], job, now)
                if key > last_key or (key == last_key and job > last):
                    last_key, last = key, job
        if last_key == 0.0:
            return first_of_outlived(book, table, jobs, passed, missing)
        missing -= int(book[last, GPUS])
        if missing <= 0:
            return last
        passed[int(book[last, SIZE])] += 1


@part
def first_of_outlived(book: Floats, table: Ints, jobs: Ints, passed: Ints, missing: int) -> int:
    """The same among jobs that all ran longer than expected, where submission alone counts."""
    before = len(book)
    while True:
        last = -1
        for size in range(len(table)):
            begin = table[size, RUNNERS]
            for place in range(begin + passed[size], begin + table[size, RUNNING]):
                if last < jobs[place] < before:
                    last = jobs[place]
        missing -= int(book[last, GPUS])
        if missing <= 0:
            return last
        before = last


@part
def rearrange(
    book: Floats,
    table: Ints,
    keys: Floats,
    jobs: Ints,
    counts: Ints,
    ask: Ints,
    passed: Ints,
    now: float,
    restart_s: float,
) -> None:
    """One decision: start and stop until all jobs that should run do."""
    while True:
        size = first_who_gains(book, table, keys, jobs, counts, ask, now)
        if size >= 0:
            job = jobs[table[size, WAITERS]]
            pop(keys, jobs, table[size, WAITERS], table[size, WAITING])
            table[size, WAITING] -= 1
            start(book, table, keys, jobs, counts, job, now, restart_s)
            announce(book, keys, jobs, counts, book[job, END], job)
        elif counts[FREE] < 0:
            job = first_without_gpus(book, table, jobs, counts, passed, now)
            key = key_of(book, counts[MODE], job, now)
            settle(book, table, keys, jobs, counts, job, now)
            book[job, STOPS] += 1
            wait(book, table, keys, jobs, job, key)
            ask_behind(table, keys, jobs, ask, key, job)
        else:
            return


@compiled
def run(
    mode: int,
    arrivals: Ints,
    eligible: Floats,
    duration: Floats,
    gpus: Ints,
    expected: Floats,
    total: int,
    restart_s: float,
) -> Floats:
    """The book: see its columns for when each job started and ended, and what it held."""
    count = len(gpus)
    book, table, keys, jobs, counts = opened(mode, duration, gpus, expected, total)
    agenda = counts[AGENDA]
    ask = np.zeros(len(table), dtype=np.int64)
    passed = np.zeros(len(table), dtype=np.int64)
    coming = ended = 0
    while ended < count:
        now = keys[agenda] if counts[EVENTS] else np.inf
        if coming < count and eligible[arrivals[coming]] < now:
            now = eligible[arrivals[coming]]
        while counts[EVENTS] and keys[agenda] == now:
            job = jobs[agenda]
            key = key_of(book, mode, job, now)
            settle(book, table, keys, jobs, counts, job, now)
            ended += 1
            ask_behind(table, keys, jobs, ask, key, job)
        while coming < count and eligible[arrivals[coming]] == now:
            job = arrivals[coming]
            coming += 1
            size = int(book[job, SIZE])
            book[job, SINCE] = now
            wait(book, table, keys, jobs, job, key_of(book, mode, job, now))
            if jobs[table[size, WAITERS]] == job:
                ask[size] = 1
        rearrange(book, table, keys, jobs, counts, ask, passed, now, restart_s)
    return book

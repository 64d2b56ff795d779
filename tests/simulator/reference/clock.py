"""The clock: who works in each second, and when somebody is asked whom to let run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False)
class RefJob:
    number: int
    submit: int
    duration: int
    gpus: int
    expected: int
    planned: int
    left: int = 0
    overhead: int = 0
    served: int = 0
    runs: bool = False
    second_queue: bool = False
    first_start: int | None = None
    last_start: int = 0
    end: int | None = None
    stops: int = 0


Rule = Callable[[int, list[RefJob], list[RefJob], int], list[RefJob]]
"""Of a second, those who wait, those who run and all GPUs there are: who is to run from now on."""


def play(jobs: list[RefJob], gpus: int, rule: Rule, *, restart: int, threshold: int = 0) -> None:
    for job in jobs:
        job.left = job.duration
    second = 0
    while any(job.end is None for job in jobs):
        if _something_happened(jobs, second, threshold):
            waiting = [j for j in jobs if j.submit <= second and j.end is None and not j.runs]
            running = [j for j in jobs if j.runs]
            _seat(running, rule(second, waiting, running, gpus), second, restart)
        for job in jobs:
            if job.runs:
                _work(job)
        second += 1
    assert all(job.served >= job.duration for job in jobs)


def _something_happened(jobs: list[RefJob], second: int, threshold: int) -> bool:
    happened = any(job.submit == second for job in jobs)
    for job in jobs:
        if job.runs and job.left == 0:
            job.runs, job.end, happened = False, second, True
        if threshold and job.runs and not job.second_queue:
            job.second_queue = job.served * job.gpus >= threshold
            happened = happened or job.second_queue
    return happened


def _seat(running: list[RefJob], chosen: list[RefJob], second: int, restart: int) -> None:
    for job in running:
        if job not in chosen:
            job.runs = False
            job.stops += 1
    for job in chosen:
        if not job.runs:
            job.overhead = 0 if job.first_start is None else restart
            job.first_start = second if job.first_start is None else job.first_start
            job.last_start = second
            job.runs = True


def _work(job: RefJob) -> None:
    job.served += 1
    if job.overhead:
        job.overhead -= 1
    else:
        job.left -= 1

"""Lucid and Gavel once more: second by second, everything scanned, nothing remembered that can be
looked up. Times are whole seconds; two on a GPU do not slow each other down here."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


@dataclass(eq=False)
class Slow:
    number: int
    submit: int
    duration: int
    gpus: int
    score: int = 0
    left: int = 0
    holds: int = 0
    profiled: bool = False
    until: int | None = None
    beside: Slow | None = None
    start: int | None = None
    end: int | None = None
    due: Fraction = Fraction(0)
    got: Fraction = Fraction(0)

    @property
    def service(self) -> int:
        return self.duration * self.gpus

    def begin(self, second: int, gpus: int) -> None:
        self.start = second if self.start is None else self.start
        self.holds = gpus


def table(jobs, scores=None) -> list[Slow]:
    return [
        Slow(number, submit, seconds, gpus, scores[number] if scores else 0, left=seconds)
        for number, (submit, seconds, gpus) in enumerate(jobs)
    ]


def one_second(jobs: list[Slow]) -> None:
    for job in jobs:
        job.left -= bool(job.holds)


def ends(jobs: list[Slow], second: int) -> None:
    for job in jobs:
        if job.holds and job.left == 0:
            job.end = second
            leave(job)


def leave(job: Slow) -> None:
    job.holds, job.until = 0, None
    if job.beside:
        job.beside.beside = None
        job.beside = None


def held(jobs: list[Slow]) -> int:
    """A pair holds its GPUs once."""
    return sum(job.holds for job in jobs if not (job.beside and job.beside.number < job.number))


class Partition(NamedTuple):
    """GPUs in all, those set aside for profiling, for how long, and of one job at most."""

    gpus: int
    aside: int
    seconds: int
    most: int


def lucid(jobs: list[Slow], parts: Partition) -> None:
    second = 0
    while any(job.end is None for job in jobs):
        ends(jobs, second)
        for job in jobs:
            if job.until == second:
                leave(job)
                job.left, job.profiled = job.duration, True
        here = [job for job in jobs if job.submit <= second and job.end is None and not job.holds]
        _start(jobs, [job for job in here if job.profiled], second, parts)
        _profile(jobs, [job for job in here if not job.profiled], second, parts)
        one_second(jobs)
        second += 1


def _main(jobs: list[Slow]) -> list[Slow]:
    return [job for job in jobs if job.holds and job.until is None]


def _start(jobs, line, second, parts) -> None:
    gpus, aside = parts.gpus, parts.aside
    stuck: set[tuple[int, int]] = set()
    for job in sorted(line, key=lambda job: (job.service, job.number)):
        if (job.gpus, job.score) in stuck:
            continue
        profiling = held(jobs) - held(_main(jobs))
        room = gpus - (aside if job.gpus <= gpus - aside else profiling) - held(_main(jobs))
        hosts = [
            host
            for host in _main(jobs)
            if not host.beside
            and host.gpus == job.gpus <= 8
            and host.score + job.score <= 2
            and job.service <= 2 * host.service
        ]
        if job.gpus <= room and job.gpus <= gpus - held(jobs):
            job.begin(second, job.gpus)
        elif hosts:
            host = min(hosts, key=lambda host: (host.score, -host.service, host.number))
            job.begin(second, job.gpus)
            job.beside, host.beside = host, job
        else:
            stuck.add((job.gpus, job.score))


def _profile(jobs, line, second, parts) -> None:
    gpus, aside, seconds, most = parts
    left = gpus - held(_main(jobs))
    waiting = [job for job in jobs if job.profiled and job.submit <= second and not job.holds]
    if any(gpus - aside < job.gpus <= left for job in waiting if job.end is None):
        return
    assert len(line) <= 10, "the profiler borrows where more wait: not told here"
    for job in sorted(line, key=lambda job: (min(job.gpus, most, aside), job.number)):
        wanted = min(job.gpus, most, aside)
        busy = held(jobs) - held(_main(jobs))
        if busy + wanted > aside or wanted > gpus - held(jobs):
            return
        job.begin(second, wanted)
        job.until = second + seconds
        _slower(job)


def _slower(job: Slow) -> None:
    """On fewer GPUs it would take longer; these runs are long enough not to end there."""
    assert job.holds == job.gpus or job.duration * job.gpus > 99


def gavel(jobs: list[Slow], gpus: int, *, length: int) -> None:
    shares: dict[Slow, Fraction] = {}
    second, turned = 0, 0
    for job in jobs:
        job.got = Fraction(length, 2)
    while any(job.end is None for job in jobs):
        ends(jobs, second)
        active = [job for job in jobs if job.submit <= second and job.end is None]
        waits = any(not job.holds for job in active)
        idle = not any(job.holds for job in jobs)
        if waits and (idle or (second - turned) % length == 0):
            for job, share in shares.items():
                job.due += share * (second - turned)
            for job in active:
                job.got += (second - turned) if job.holds else 0
            shares = fair(active, gpus)
            _take_turns(active, shares, second, gpus, length)
            turned = second
        one_second(jobs)
        second += 1


def _take_turns(active, shares, second, gpus, length) -> None:
    def place(job):
        behind = (job.due + shares[job] * length) / job.got
        return -round(behind, 9), -round(shares[job], 9), job.number

    chosen: list[Slow] = []
    for job in sorted(active, key=place):
        if job.gpus <= gpus - sum(one.gpus for one in chosen):
            chosen.append(job)
    for job in active:
        if job not in chosen:
            job.holds = 0
        elif not job.holds:
            job.begin(second, job.gpus)


def fair(active: list[Slow], gpus: int) -> dict[Slow, Fraction]:
    """Pour GPU time into all until they are full, one after the other."""
    shares = dict.fromkeys(active, Fraction(0))
    left = Fraction(gpus)
    thirsty = list(active)
    while left and thirsty:
        least = min(job.gpus * (1 - shares[job]) for job in thirsty)
        each = min(least, left / len(thirsty))
        for job in thirsty:
            shares[job] += each / job.gpus
        left -= each * len(thirsty)
        thirsty = [job for job in thirsty if shares[job] < 1]
    return shares

"""Logs that are read once from beginning to end: of finished runs, copies, pipes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from schedmate.files import INVOKER, Reader
from schedmate.model import Asker, Cost, ModelError, Progress, RunProfile, Workload
from schedmate.tracker.facts import Facts
from schedmate.tracker.report import profile_from, progress_of
from schedmate.tracker.scan import LogScan
from schedmate.tracker.tailing.full_read import lines_of, open_log
from schedmate.tracker.unknown import ask

_NO_COST = Cost()


def track_file(
    path: Path, *, workload: Workload | None = None, similar: Sequence[RunProfile] = ()
) -> Progress:
    """Where the run of a finished or copied log stands, from one reading of it."""
    with open_log(path) as stream:
        return track_stream(stream, name=str(path), workload=workload, similar=similar)


def track_stream(
    stream: IO[bytes],
    *,
    name: str,
    workload: Workload | None = None,
    similar: Sequence[RunProfile] = (),
    asker: Asker | None = None,
) -> Progress:
    return track_streams([(name, stream)], workload=workload, similar=similar, asker=asker)


def track_streams(
    streams: Sequence[tuple[str, IO[bytes]]],
    *,
    workload: Workload | None = None,
    similar: Sequence[RunProfile] = (),
    limit_s: float | None = None,
    asker: Asker | None = None,
) -> Progress:
    """All logs of one job, by name; what behaviour leaves open is put to a model, if there is one.

    A model that does not answer is a loss, but no failure.
    """
    before = time.perf_counter()
    scans = [_scanned(stream) for _, stream in streams]
    cost = _NO_COST if asker is None else _ask_about(scans, asker)
    facts = Facts(
        logs=tuple(name for name, _ in streams),
        scans=scans,
        workload=workload,
        similar=similar,
        limit_s=limit_s,
    )
    progress = progress_of(facts)
    return replace(progress, cost=replace(cost, seconds=round(time.perf_counter() - before, 6)))


def track_and_profile(path: Path, reader: Reader = INVOKER) -> tuple[Progress, RunProfile | None]:
    """Where the run of a finished log stands and how it went, from one reading."""
    with open_log(path, reader) as stream:
        facts = Facts(logs=(str(path),), scans=[_scanned(stream)])
    return progress_of(facts), profile_from(facts)


def profile_file(path: Path) -> RunProfile | None:
    """How the run of a finished log went, for the next one like it."""
    with open_log(path) as stream:
        return profile_stream(stream)


def profile_stream(stream: IO[bytes]) -> RunProfile | None:
    return profile_from(Facts(logs=("",), scans=[_scanned(stream)]))


def _scanned(stream: IO[bytes]) -> LogScan:
    scan = LogScan()
    for lines in lines_of(stream):
        scan.feed(lines, None)
    return scan


def _ask_about(scans: Sequence[LogScan], asker: Asker) -> Cost:
    for scan in scans:
        question = scan.question()
        if question is None:
            continue
        try:
            answer = ask(question, asker)
        except ModelError:
            return _NO_COST
        scan.settle(question, answer.value)
        return answer.cost
    return _NO_COST

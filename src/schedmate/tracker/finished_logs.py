"""Logs that are read once from beginning to end: of finished runs, copies, pipes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from schedmate.files import INVOKER, Reader
from schedmate.logs.file_times import WrittenSpan, written_span
from schedmate.model import Asker, Cost, ModelError, Progress, RunProfile, Workload
from schedmate.tracker.curves import LossCurve, RunCurves
from schedmate.tracker.facts import Facts
from schedmate.tracker.report import curves_from, profile_from, progress_of
from schedmate.tracker.scan import LogScan
from schedmate.tracker.tailing.full_read import lines_of, open_log
from schedmate.tracker.unknown import ask

_NO_COST = Cost()


def track_file(
    path: Path, *, workload: Workload | None = None, similar: Sequence[RunProfile] = ()
) -> Progress:
    """Where the run of a finished or copied log stands, from one reading of it."""
    with open_log(path) as stream:
        return track_streams(
            [(str(path), stream)],
            workload=workload,
            similar=similar,
            written=written_span(stream.fileno()),
        )


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
    written: WrittenSpan | None = None,
    asker: Asker | None = None,
) -> Progress:
    """All logs of one job, by name; what behaviour leaves open is put to a model, if there is one.

    A model that does not answer is a loss, but no failure. `written` is how long the logs were
    written, by their files.
    """
    progress, _ = track_with_curves(
        streams,
        workload=workload,
        similar=similar,
        limit_s=limit_s,
        written=written,
        asker=asker,
        curves=False,
    )
    return progress


def track_with_curves(
    streams: Sequence[tuple[str, IO[bytes]]],
    *,
    workload: Workload | None = None,
    similar: Sequence[RunProfile] = (),
    limit_s: float | None = None,
    written: WrittenSpan | None = None,
    quiet_s: float | None = None,
    writing: Callable[[], bool | None] | None = None,
    asker: Asker | None = None,
    curves: bool = True,
) -> tuple[Progress, RunCurves | None]:
    """The same, and the course of loss and speed.

    `quiet_s` is how long ago the logs were written last; `writing`, asked only about a run that
    may be finished, is whether a process still has one of them open; None where that is unknown.
    """
    before = time.perf_counter()
    scans = [_scanned(stream, curves=curves) for _, stream in streams]
    cost = _NO_COST if asker is None else _ask_about(scans, asker)
    facts = Facts(
        logs=tuple(name for name, _ in streams),
        scans=scans,
        workload=workload,
        similar=similar,
        limit_s=limit_s,
        written=written,
        quiet_s=quiet_s,
    )
    progress = progress_of(facts) if writing is None else _by_its_writers(facts, writing)
    cost = replace(cost, seconds=round(time.perf_counter() - before, 6))
    return replace(progress, cost=cost), curves_from(facts) if curves else None


def _by_its_writers(facts: Facts, writing: Callable[[], bool | None]) -> Progress:
    progress = progress_of(facts)
    if progress.phase == "finished":
        return progress_of(replace(facts, writing=True)) if writing() else progress
    if progress.phase == "failed":
        return progress
    left = progress_of(replace(facts, gone=True))
    return left if left.phase == "finished" and writing() is False else progress


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


def _scanned(stream: IO[bytes], *, curves: bool = False) -> LogScan:
    scan = LogScan(losses=LossCurve() if curves else None)
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

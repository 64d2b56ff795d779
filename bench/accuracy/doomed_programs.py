"""Real programs that do nothing, hang or only seem to: what is stated of them, and what is stopped.

All run at once on this machine, a minute in a quarter of a second; the real tracker reads what
they print, their processes and files are really measured, and the real decision engine decides.
Only the use of the GPUs is made up.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bench.corpora.doomed_runs import FIRST_SIGHT
from schedmate.core import (
    DOOMED_REASONS,
    Act,
    ActivitySeen,
    DecisionEngine,
    DecisionLimits,
    Diagnose,
    DoomedLimits,
    Event,
    Instruction,
    JobDiagnosed,
    JobSeen,
    Measure,
    ProgressSeen,
)
from schedmate.model import Activity, Job, JobId, JobState, Request
from schedmate.policies import ordering
from schedmate.schedulers.local.activity import activities, files_written
from schedmate.schedulers.local.attempt import RunFiles
from schedmate.service.daemon.activity import Activities
from schedmate.testing.builders import a_diagnosis, a_job
from schedmate.tracker import JobTracker

if TYPE_CHECKING:
    from schedmate.schedulers.base import Scheduler

MINUTE_S = 0.25
_FASTER = 60.0 / MINUTE_S
_POLL_S = 1.5 * MINUTE_S
_LASTS_S = 230 * MINUTE_S
_BEGAN = 1_000_000.0
_FRAMEWORKS = Path(__file__).parents[2] / ".venv-frameworks/bin/python"
_HEAD = (
    "import glob, os, subprocess, sys, threading, time\n"
    "M, ELSEWHERE = float(os.environ['M']), os.environ['ELSEWHERE']\n"
)


@dataclass(slots=True)
class Program:
    name: str
    doomed: frozenset[str]
    waits: bool
    """It must not be stopped for being idle."""
    gpu: float
    place: Path
    script: str
    job: Job
    tracker: JobTracker
    engine: DecisionEngine
    told: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)

    @property
    def attempt(self) -> RunFiles:
        return RunFiles(self.place / "attempt")


class Box:
    """This machine, as the daemon asks a scheduler for what its runs do."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._programs = {one.job.id: one for one in programs}

    def script(self, job_id: JobId) -> str:
        return self._programs[job_id].script

    def activity(self, jobs: Sequence[Job]) -> dict[JobId, Activity]:
        some = {job.id: self._programs[job.id] for job in jobs}
        gpus = {job_id: [job_id] for job_id in some}
        busy = {job_id: one.gpu for job_id, one in some.items()}
        found = activities({job_id: one.attempt for job_id, one in some.items()}, gpus, busy)
        return {job_id: _stretched(one) for job_id, one in found.items()}

    def written_files(self, jobs: Sequence[Job]) -> dict[JobId, frozenset[str]]:
        return files_written({job.id: self._programs[job.id].attempt for job in jobs})


def _stretched(activity: Activity) -> Activity:
    """The same share of a core in the longer time."""
    return replace(activity, cpu_s=_FASTER * (activity.cpu_s or 0.0))


def watched_programs(only: str = "") -> list[Program]:
    """All programs after three hours of theirs, with what was stated and stopped."""
    with _started(only) as programs:
        begun = time.monotonic()
        measuring = Activities(cast("Scheduler", Box(programs)))  # all that is asked of it
        while time.monotonic() - begun < _LASTS_S:
            time.sleep(_POLL_S)
            now = _BEGAN + _FASTER * (time.monotonic() - begun)
            _poll(programs, measuring, now)
        return programs


def _poll(programs: Sequence[Program], measuring: Activities, now: float) -> None:
    asked: list[Program] = []
    for one in programs:
        seen = one.tracker.poll(now, writing=True)
        if any(isinstance(w, Measure) for w in _told(one, ProgressSeen(now, one.job.id, seen))):
            asked.append(one)
    found = measuring.of([one.job for one in asked], [one.job for one in programs])
    for one in asked:
        if one.job.id in found:
            event = ActivitySeen(now, one.job.id, 0, found[one.job.id])
            if any(isinstance(wanted, Diagnose) for wanted in _told(one, event)):
                _told(one, JobDiagnosed(now, one.job.id, 0, a_diagnosis("hang")))


def _told(one: Program, event: Event) -> list[Instruction]:
    found = one.engine.handle(event)
    for wanted in found:
        if isinstance(wanted, Act) and wanted.action.reason is not None:
            action, reason = wanted.action, wanted.action.reason
            if reason.code == "doomed":
                (one.stopped if action.kind == "cancel" else one.told).add(reason.failure)
    return found


@contextmanager
def _started(only: str) -> Iterator[list[Program]]:
    root = Path(tempfile.mkdtemp(prefix="schedmate-programs-"))
    elsewhere = Path(tempfile.mkdtemp(prefix="schedmate-elsewhere-"))
    processes: list[subprocess.Popen[bytes]] = []
    programs: list[Program] = []
    try:
        stated = tomllib.loads((FIRST_SIGHT / "programs.toml").read_text())
        for name, one in stated.items():
            if only not in name or (one.get("frameworks") and not _FRAMEWORKS.exists()):
                continue
            program = _program(root / name, name, one)
            programs.append(program)
            processes.append(_start(program, elsewhere / name))
        yield programs
    finally:
        marks = {one.attempt.mark for one in programs}
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        _end(marks)
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(elsewhere, ignore_errors=True)


def _program(place: Path, name: str, stated: dict[str, Any]) -> Program:
    place.mkdir(parents=True)
    python = _FRAMEWORKS if stated.get("frameworks") else Path(sys.executable)
    (place / "train.py").write_text(_HEAD + stated.get("py", ""))
    script = stated.get("sh") or f"{python} train.py"
    (place / "job.sh").write_text(script)
    log = place / "log"
    log.touch()
    job = a_job(
        id=name,
        state=JobState.RUNNING,
        start_time=_BEGAN,
        request=Request(gpus=1, time_limit_s=86400.0),
        workdir=str(place),
        logs=(str(log),),
        command=("job.sh",),
        user="root" if os.geteuid() == 0 else os.environ.get("USER", ""),
    )
    limits = DecisionLimits(doomed=DoomedLimits(stop=frozenset(DOOMED_REASONS)))
    engine = DecisionEngine(ordering("fifo"), limits)
    engine.handle(JobSeen(_BEGAN, job))
    return Program(
        name=name,
        doomed=frozenset(stated["doomed"]),
        waits=stated.get("waits", False),
        gpu=stated.get("gpu", 0.0),
        place=place,
        script=script,
        job=job,
        tracker=JobTracker([log], started_at=_BEGAN, limit_s=86400.0),
        engine=engine,
    )


def _start(program: Program, elsewhere: Path) -> subprocess.Popen[bytes]:
    elsewhere.mkdir()
    names = {"M": f"{MINUTE_S}", "ELSEWHERE": str(elsewhere)}
    mark, _, value = program.attempt.mark.partition("=")
    with (program.place / "log").open("ab") as log:
        return subprocess.Popen(
            ["bash", "job.sh"],
            cwd=program.place,
            env=os.environ | names | {mark: value},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _end(marks: set[str]) -> None:
    """Also what has left its session."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with suppress(OSError):
            names = (entry / "environ").read_bytes().split(b"\0")
            if any(mark.encode() in names for mark in marks):
                os.kill(int(entry.name), signal.SIGKILL)

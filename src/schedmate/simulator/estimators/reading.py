"""What SchedMate reads out of a job's files: each project once, by the reader that is used live.

Of a job, the numbers of its command line are then put where the reader finds them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.sources.files import digest
from schedmate.advisor.understand.fingerprint import fingerprint
from schedmate.advisor.understand.reading import understand
from schedmate.advisor.understand.signature import signature
from schedmate.advisor.understand.understanding import Understanding
from schedmate.files import INVOKER
from schedmate.model import Finding, Fingerprint, Request, Workload
from schedmate.simulator.synthetic.projects import Project, bank
from schedmate.simulator.synthetic.workload import SyntheticSubmission

T = TypeVar("T", int, float)


def read_job(
    submission: SyntheticSubmission, job: int, request: Request
) -> tuple[Workload, Fingerprint | None]:
    """The whole way: its files are written down and read."""
    arguments, files = submission.arguments(job), submission.files(job)
    understood, prints = _read(submission.project_of(job), files, arguments, request)
    return understood.workload, prints


@dataclass(frozen=True, slots=True)
class Records:
    """The same, from what was read of the project before."""

    submission: SyntheticSubmission

    def workload(self, job: int, gpus: int) -> Workload:
        read = self.submission
        numbers = (each[job] for each in (read.read_length, read.batch, read.rate))
        length, batch, rate = map(float, numbers)
        return _workload(int(read.project[job]), str(length), batch, rate, gpus)

    def fingerprint(self, job: int, gpus: int) -> Fingerprint:
        read = self.submission
        code = tuple(int(each[job]) for each in (read.project, read.copy, read.version))
        numbers = tuple(float(each[job]) for each in (read.length, read.batch, read.rate))
        return _fingerprint(code, numbers, gpus)


@lru_cache(maxsize=200_000)
def _fingerprint(of_code: tuple[int, ...], numbers: tuple[float, ...], gpus: int) -> Fingerprint:
    project, copy, version = of_code
    code, lines = _code(project, copy, version)
    arguments = digest(*bank()[project].arguments(*numbers), str(gpus))
    return Fingerprint(code=code, arguments=arguments, signature=lines)


@lru_cache(maxsize=100_000)
def _workload(project: int, length: str, batch: float, rate: float, gpus: int) -> Workload:
    """`length` as text: one that is not a number equals itself then."""
    kind, known = bank()[project], _record(project)
    steps = "epochs" if kind.unit == "epochs" else "max_steps"
    found = getattr(known, steps)
    value = float(length)
    number = value if steps == "epochs" else int(0 if math.isnan(value) else value)
    return replace(
        known,
        gpus=_said(known.gpus, gpus),
        batch_size=_said(known.batch_size, int(batch)),
        learning_rate=_said(known.learning_rate, rate),
        **{steps: None if math.isnan(value) else _said(found, number)},
    )


def _said(found: Finding[T] | None, value: T) -> Finding[T] | None:
    return None if found is None else replace(found, value=value, evidence=())


@cache
def _record(project: int) -> Workload:
    kind = bank()[project]
    numbers = kind.length, float(kind.batch or 1), kind.rate
    return _read(kind, kind.files, kind.arguments(*numbers), Request(gpus=1))[0].workload


@lru_cache(maxsize=200_000)
def _code(project: int, copy: int, version: int) -> tuple[str, tuple[int, ...]]:
    files = bank()[project].files_of(copy, version)
    texts = [text for name, text in files.items() if name.endswith(".py")]
    return digest(*sorted({digest(text) for text in texts})), signature(texts)


def _read(
    project: Project, files: dict[str, str], arguments: tuple[str, ...], request: Request
) -> tuple[Understanding, Fingerprint | None]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        target = Target(
            workdir=folder,
            command=(project.script, *arguments),
            script_text=files[project.script],
            script_name=project.script,
            args=arguments,
            request=request,
            user="",
            name=project.name,
            by=INVOKER,
        )
        launch = resolve(target)
        understood, _ = understand(launch, target.files, request)
        return understood, fingerprint(launch, understood, request)

"""How the adapter changes jobs: by Slurm's commands or through its REST service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from schedmate.model import SchedulerError
from schedmate.schedulers.slurm.submitting import batch_script, sbatch_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedmate.model import JobId, Submission
    from schedmate.schedulers.slurm.commands import SlurmCommands

    Field = Literal[
        "Nice", "TimeLimit", "TimeMin", "ExcNodeList", "StartTime", "Dependency", "Gres"
    ]

_NUMBER = re.compile(r"[0-9]+")
_OBJECTION = re.compile(r"^(?P<what>.+) for job (?P<job>\S+)$|^(?P<task>\d+_\S+): (?P<why>.+)$")
_NO_OBJECTION = "No error"


@dataclass(frozen=True, slots=True)
class Target:
    """Which job is meant, as scontrol names it: `12`, `12_3`, `12_[0-5]`."""

    name: str
    is_single: bool = False
    """One record of Slurm under its own number: no array, no task, no heterogeneous job."""


class SlurmChanges(Protocol):
    def submit(self, submission: Submission) -> JobId:
        """Queue it."""

    def update(self, target: Target, field: Field, value: str) -> None:
        """Set one field, in scontrol's words."""

    def set_nices(self, numbers: Mapping[Target, int]) -> dict[JobId, str]:
        """Nice numbers of many; what Slurm objected, by id."""

    def cancel(self, target: Target) -> None: ...

    def requeue(self, job_id: JobId, *, held: bool = False, marked: str = "") -> None:
        """Queue it again, held in the same instant, and then perhaps with a state to know it by:
        `SpecialExit`."""

    def signal(self, job_id: JobId, name: str, *, batch: bool) -> None:
        """To its steps, or to its batch shell alone."""

    def hold(self, name: str) -> None:
        """A user's hold: its owner could not lift an administrator's."""

    def release(self, name: str) -> None: ...


class CommandChanges:
    """See `SlurmChanges`: sbatch, scontrol and scancel."""

    def __init__(self, slurm: SlurmCommands) -> None:
        self._slurm = slurm

    def submit(self, submission: Submission) -> JobId:
        answer = self._slurm.submit(
            "sbatch",
            *sbatch_arguments(submission),
            workdir=submission.workdir,
            env=submission.env,
            stdin=batch_script(submission),
        )
        job_id = answer.strip().partition(";")[0]
        if not _NUMBER.fullmatch(job_id):
            raise SchedulerError(f"sbatch gave no job id but {answer.strip()!r}")
        return job_id

    def update(self, target: Target, field: Field, value: str) -> None:
        self._slurm.ask("scontrol", "update", f"JobId={target.name}", f"{field}={value}")

    def set_nices(self, numbers: Mapping[Target, int]) -> dict[JobId, str]:
        """One scontrol that reads a command for each from its input."""
        lines = (f"update JobId={target.name} Nice={nice}\n" for target, nice in numbers.items())
        return objections(self._slurm.dictate("scontrol", "".join(lines)))

    def cancel(self, target: Target) -> None:
        self._slurm.ask("scancel", target.name)

    def requeue(self, job_id: JobId, *, held: bool = False, marked: str = "") -> None:
        state = [f"State={marked}"] if marked else []
        self._slurm.ask("scontrol", "requeuehold" if held else "requeue", *state, job_id)

    def signal(self, job_id: JobId, name: str, *, batch: bool) -> None:
        self._slurm.ask("scancel", f"--signal={name}", *(["--batch"] if batch else []), job_id)

    def hold(self, name: str) -> None:
        self._slurm.ask("scontrol", "uhold", name)

    def release(self, name: str) -> None:
        self._slurm.ask("scontrol", "release", name)


def objections(complaints: Iterable[str]) -> dict[JobId, str]:
    """By job: `Invalid job id specified for job 12`, `12_0: Job has already finished`."""
    found: dict[JobId, str] = {}
    for line in complaints:
        match = _OBJECTION.match(line.strip())
        what = match and (match["what"] or match["why"])
        if match is None or not what or what == _NO_OBJECTION:
            continue
        found[(match["job"] or match["task"]).partition("_[")[0]] = what
    return found

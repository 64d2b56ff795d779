"""Tries what an account may do in Slurm, by reading and by changes that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import SchedMateError, SchedulerError
from schedmate.schedulers.base import Trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.model import Job
    from schedmate.schedulers.slurm.commands import SlurmCommands

_NO_JOB = "no other user has a job that could be tried"


def try_rights(slurm: SlurmCommands, jobs: list[Job], user: str) -> list[Trial]:
    """The queue, accounting, scripts, and changes to a job of another user."""
    others = [job for job in jobs if job.user != user and not job.state.ended and "_" not in job.id]
    single = others[0] if others else None
    recent = ("-n", "-X", "-S", "now-1minutes", "-o", "JobID")
    return [
        _tried("queue", lambda: slurm.ask("squeue", "-h", "-a", "-o", "%i")),
        _tried("accounting", lambda: slurm.ask("sacct", *recent)),
        _of_other("scripts", single, lambda job: _read_script(slurm, job)),
        _of_other("changes", single, lambda job: _change_nothing(slurm, job)),
    ]


def _read_script(slurm: SlurmCommands, job: Job) -> str:
    """What is refused is no error of scontrol, but there is no text."""
    text = slurm.ask("scontrol", "write", "batch_script", job.id, "-")
    if not text.startswith("#!"):
        raise SchedulerError(f"the script of job {job.id} is not shown to this account")
    return text


def _change_nothing(slurm: SlurmCommands, job: Job) -> str:
    """Slurm checks the right before it finds that the number is the same."""
    return slurm.ask("scontrol", "update", f"JobId={job.id}", f"Nice={job.nice or 0}")


def _of_other(name: str, job: Job | None, act: Callable[[Job], str]) -> Trial:
    if job is None:
        return Trial(name, allowed=None, note=_NO_JOB)
    return _tried(name, lambda: act(job))


def _tried(name: str, act: Callable[[], str]) -> Trial:
    try:
        act()
    except SchedMateError as error:
        return Trial(name, allowed=False, note=str(error))
    return Trial(name, allowed=True, note="")

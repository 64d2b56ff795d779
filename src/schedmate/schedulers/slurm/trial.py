"""Tries what an account may do in Slurm, by reading and by changes that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import JobState, SchedMateError, SchedulerError
from schedmate.schedulers.base import Trial
from schedmate.schedulers.slurm.submitting import minutes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.model import Job
    from schedmate.schedulers.base import Rights
    from schedmate.schedulers.slurm.commands import SlurmCommands

_HELD_BY_USER = "JobHeldUser"
_NONE_TO_TRY = "no waiting job of another user, or none in its user's hold, to try it on"
_NO_NODE = "schedmate-has-no-such-node"


def try_rights(slurm: SlurmCommands, jobs: Sequence[Job], user: str, rights: Rights) -> list[Trial]:
    """Reading, and each change to jobs of other users and to nodes.

    Slurm checks a right before it finds that nothing would change, that a job which waits cannot
    be requeued, or that there is no such node. Where no job is there to try it on, what the
    account's role allows stands for it. An ordinary user's attempts would be violations in
    slurmctld's log: the role stands for them.
    """
    others = [job for job in jobs if job.user != user and not job.state.ended and "_" not in job.id]
    # a job in its user's hold does not start in between, and one held for long stays so
    held = [job for job in others if job.state is JobState.PENDING and job.reason == _HELD_BY_USER]
    held.sort(key=lambda job: job.submit_time)
    limited = [job for job in others if job.request.time_limit_s]

    def on(name: str, some: Sequence[Job], act: Callable[[Job], str], unless: str = "") -> Trial:
        if not rights.everyone:
            return refused(name)
        if some:
            return _tried(name, lambda: act(some[0]), unless)
        return Trial(name, allowed=True, note=f"by its role ({rights.role}): {_NONE_TO_TRY}")

    def refused(name: str) -> Trial:
        return Trial(name, allowed=False, note=f"by its role ({rights.role}): own jobs only")

    def update(job: Job, change: str) -> str:
        return slurm.ask("scontrol", "update", f"JobId={job.id}", change)

    recent = ("-n", "-X", "-S", "now-1minutes", "-o", "JobID")
    no_node = ("update", f"NodeName={_NO_NODE}", "State=DRAIN", "Reason=schedmate doctor")
    return [
        on("requeue", held, lambda job: slurm.ask("scontrol", "requeue", job.id), "is pending"),
        on("hold", held, lambda job: slurm.ask("scontrol", "uhold", job.id)),
        on("nice", others, lambda job: update(job, f"Nice={job.nice or 0}")),
        on(
            "time limit",
            limited,
            lambda job: update(job, f"TimeLimit={minutes(job.request.time_limit_s or 0.0)}"),
        ),
        on("scripts", others, lambda job: _read_script(slurm, job)),
        _tried("drain", lambda: slurm.ask("scontrol", *no_node), "invalid node name")
        if rights.everyone
        else refused("drain"),
        _tried("queue", lambda: slurm.ask("squeue", "-h", "-a", "-o", "%i")),
        _tried("accounting", lambda: slurm.ask("sacct", *recent)),
    ]


def _read_script(slurm: SlurmCommands, job: Job) -> str:
    """What is refused is no error of scontrol, but there is no text."""
    text = slurm.ask("scontrol", "write", "batch_script", job.id, "-")
    if not text.startswith("#!"):
        raise SchedulerError(f"the script of job {job.id} is not shown to this account")
    return text


def _tried(name: str, act: Callable[[], str], unless: str = "") -> Trial:
    """`unless` is what Slurm answers to one who has the right."""
    try:
        act()
    except SchedMateError as error:
        if unless and unless in str(error).lower():
            return Trial(name, allowed=True, note="")
        return Trial(name, allowed=False, note=str(error))
    return Trial(name, allowed=True, note="")

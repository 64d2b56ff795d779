"""Jobs that a run's owner has arranged to come after it, or beside it: a retry would run beside
them, in the same directory and on the same checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from posixpath import isabs
from typing import TYPE_CHECKING, Final

from schedmate.model import JobState, array_of
from schedmate.model.job import awaited_in

if TYPE_CHECKING:
    from schedmate.model import Job, JobId

_SETTLED_S: Final = 120.0
"""Within such a time after its end a scheduler lets go of what waited for a run."""
_CLOCK_S: Final = 1.0
"""Times are known in whole seconds."""
_SIDE_BY_SIDE_S: Final = 600.0
"""Jobs that ran together for so long do not mind each other."""
_TOGETHER_S: Final = 60.0
_LONG_BEFORE_S: Final = 10.0
"""What its owner submitted within a minute, so long before it failed, is one of many jobs."""
_WAITS_FOR_SUCCESS: Final = frozenset({"afterok", "aftercorr"})
_SUBMITS = re.compile(
    r"(?:^|[\s;&|(`/'\"!])(?:sbatch|qsub|bsub|msub|scontrol\s+requeue(?:hold)?"
    r"|schedmate\s+(?:submit|sbatch|requeue))(?=$|[\s;&|)`'\"])",
    re.MULTILINE,
)
_MANAGED = re.compile(
    r"^# properties = \{|\bsnakemake\b.*--snakefile|^# NEXTFLOW TASK|\bnxf_main\b"
    r"|\bsubmitit\.core\._submit\b|\bcromwell-executions\b",
    re.MULTILINE,
)
"""Scripts that Snakemake, Nextflow, submitit and Cromwell write: they watch their jobs, and submit
them again by rules of their own."""
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)


def submits_jobs(script: str | None) -> bool:
    """Whether a script or the workflow manager that wrote it submits or requeues jobs by itself, as
    far as its text shows."""
    if script is None:
        return False
    found = _SUBMITS.search(_COMMENT.sub("", script)) or _MANAGED.search(script)
    return found is not None


def awaited_by(job: Job) -> frozenset[JobId]:
    """The jobs for whose end, not for whose success, it waits: it runs if they fail, too."""
    return awaited_jobs(job.dependency)


def awaited_jobs(dependency: str) -> frozenset[JobId]:
    found = awaited_in(dependency)
    return frozenset(one.job_id for one in found if one.kind not in _WAITS_FOR_SUCCESS)


def waits_for(other: Job, job: Job) -> bool:
    """Whether it waits for the end or the success of this job: it is none that replaces it."""
    return any(one.job_id in _names(job) for one in awaited_in(other.dependency))


def waits_for_end(dependency: str, other: Job, job: Job) -> bool:
    """Whether `other`, with this dependency, was to run once `job` has ended."""
    alone = "singleton" in dependency and (other.user, other.name) == (job.user, job.name)
    return alone or bool(_names(job) & awaited_jobs(dependency))


def successor(job: Job, others: Iterable[tuple[Job, frozenset[JobId]]], now: float) -> str | None:
    """In words why a retry of this run would not be alone, None where nothing shows that.

    `others` are all jobs, each with those it was ever seen to wait for, see `awaited_by`.
    """
    ended = now if job.end_time is None else job.end_time
    for other, awaited in others:
        if other.id == job.id or _is_over_unstarted(other):
            continue
        if _names(job) & awaited or waits_for_end(other.dependency, other, job):
            return f"job {other.id} was submitted to run after it"
        if not was_submitted_since(other, job, ended):
            continue
        if _is_same_work(other, job):
            return f"its owner has submitted it again as job {other.id}"
        if other.workdir == job.workdir:
            return f"job {other.id} was submitted from its directory since it began"
    return None


def may_be_child(other: Job, job: Job, hosts: Container[str], now: float) -> bool:
    """Whether it was submitted on the machines of a run, `hosts`, and not in the terminal that the
    run itself was submitted in: people submit on some nodes as well."""
    ended = now if job.end_time is None else job.end_time
    if other.id == job.id or other.restarts or _is_over_unstarted(other):
        return False
    if other.user != job.user or not other.submit_host or other.submit_host not in hosts:
        return False
    began = ended if job.start_time is None else job.start_time
    if other.submit_time < began or _came_before(other, job) or _is_sibling(other, job):
        return False
    if job.submit_host != other.submit_host and job.submit_host not in hosts:
        return True  # people submit elsewhere; what a run has left behind may do so after it
    theirs, ours = ((one.submit_host, one.submit_session) for one in (other, job))
    as_it_ran = other.submit_time <= ended + _CLOCK_S
    return as_it_ran and (other.submit_session is None or theirs != ours)


def _is_sibling(other: Job, job: Job) -> bool:
    """A task of the same array."""
    array = array_of(job.id)
    return array is not None and array in (other.id, array_of(other.id))


def _names(job: Job) -> set[str]:
    """By which a dependency may mean this job."""
    array = array_of(job.id)
    return {job.id} if array is None else {job.id, array}


def _is_over_unstarted(other: Job) -> bool:
    return other.state is JobState.CANCELLED and not other.started


def succeeded_since(job: Job, was_retried: Callable[[JobId], bool]) -> list[JobId]:
    """The jobs whose failure a waiting job cannot get over, where all of them have succeeded when
    they were queued again."""
    failed = [one for one in awaited_in(job.dependency) if one.state == "failed"]
    if job.state is not JobState.PENDING or not all(
        one.kind == "afterok" and was_retried(one.job_id) for one in failed
    ):
        return []
    return [one.job_id for one in failed]


def may_have_waited(other: Job, job: Job) -> bool:
    """Whether it waited, by its owner's wish, until about the end of this run."""
    freed, ended = other.freed_time, job.end_time
    if freed is None or ended is None or other.user != job.user or other.restarts:
        return False
    return other.submit_time <= ended and ended - _CLOCK_S <= freed <= ended + _SETTLED_S


def _came_before(other: Job, job: Job) -> bool:
    """Within the same second by their numbers."""
    first, second = (re.match(r"\d+", one.id) for one in (other, job))
    if first is None or second is None or other.submit_time > job.submit_time:
        return False
    return int(first[0]) < int(second[0])


def _is_same_work(other: Job, job: Job) -> bool:
    """A script is known by its full path wherever it was submitted from; other commands mean
    files of the directory that they run in."""
    if not job.command or (other.name, other.command) != (job.name, job.command):
        return False
    script = job.script if job.script == other.script else None
    return other.workdir == job.workdir or (script is not None and isabs(script))


def was_submitted_since(other: Job, job: Job, ended: float) -> bool:
    """By its owner, while it ran or since; who was queued again was submitted before that."""
    if other.user != job.user or other.restarts or _is_sibling(other, job):
        return False
    began = job.submit_time if job.start_time is None else job.start_time
    if other.submit_time < began or _came_before(other, job):
        return False
    beside = other.start_time is not None and ended - other.start_time >= _SIDE_BY_SIDE_S
    together = (
        other.submit_time - job.submit_time <= _TOGETHER_S
        and ended - other.submit_time >= _LONG_BEFORE_S
    )
    return not (beside or together)

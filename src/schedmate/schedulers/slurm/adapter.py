"""Slurm as a `Scheduler`.

The controller is asked with one squeue for everything it still holds, ended jobs included
(MinJobAge, five minutes by default). What it has let go of is looked up with one sacct, where
the site has accounting; where it has none, a job is known for as long as the controller holds
it. A question that fails raises: an empty answer is never made up.
"""

from __future__ import annotations

import math
import os
import re
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedulerError
from schedmate.schedulers.slurm import gpu_use, nodes, parsing, rights
from schedmate.schedulers.slurm.commands import SlurmCommands
from schedmate.schedulers.slurm.hostlist import expand
from schedmate.schedulers.slurm.submitting import batch_script, minutes, sbatch_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import GpuUse, Job, JobId, NodeState, Submission
    from schedmate.schedulers.base import Rights

_JOB_ID = re.compile(r"[0-9]+([_+][0-9]+)?")
_MOST_IDS = 5000
"""How many ids fit on one command line; beyond it everything is asked for."""

_STOPPING_POLL_S = 0.5
_CREDENTIAL_S = 2.0
"""slurmd refuses, as revoked, a credential from the second in which the last run ended."""


class SlurmScheduler:
    name = "slurm"

    def __init__(self, *, timeout_s: float = 30.0, history_days: int = 1) -> None:
        self._slurm = SlurmCommands(timeout_s)
        self._history_days = history_days
        self._has_accounting: bool | None = None

    def submit(self, submission: Submission) -> JobId:
        answer = self._slurm.submit(
            "sbatch",
            *sbatch_arguments(submission),
            workdir=submission.workdir,
            env=submission.env,
            stdin=batch_script(submission),
        )
        job_id = answer.strip().partition(";")[0]
        if not _JOB_ID.fullmatch(job_id):
            raise SchedulerError(f"sbatch gave no job id but {answer.strip()!r}")
        return job_id

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        """See `Scheduler.jobs`. An array's id means all its tasks."""
        if ids is None:
            held = self._held(None)
            return held + self._accounted(None, but={job.id for job in held})
        wanted = {job_id for job_id in ids if _JOB_ID.fullmatch(job_id)}
        held = self._held(wanted) if wanted else []
        found = {name for job in held for name in _names(job.id)}
        forgotten = wanted - found
        past = self._accounted(forgotten, but={job.id for job in held}) if forgotten else []
        return held + past

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        """See `Scheduler.nodes`. All are asked for: one unknown name would spoil the answer."""
        found = nodes.node_states(self._slurm.ask("scontrol", "-a", "-o", "show", "node"))
        return found if names is None else [node for node in found if node.name in set(names)]

    def script(self, job_id: JobId) -> str | None:
        """The script; for a plain command the two lines that were made of it."""
        return self._slurm.ask("scontrol", "write", "batch_script", _checked(job_id), "-")

    def cancel(self, job_id: JobId) -> None:
        # scancel says nothing about a job it does not know
        jobs = self.jobs([_checked(job_id)])
        if not jobs:
            raise NotFound(f"Slurm does not know job {job_id}")
        if not all(job.state.ended for job in jobs):
            self._slurm.ask("scancel", job_id)

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int | None = None,
        exclude_nodes: Sequence[str] = (),
        delay_s: float = 0.0,
    ) -> None:
        """See `Scheduler.requeue`. Nodes that were excluded before stay so."""
        if run is not None and any(job.restarts != run for job in self.jobs([_checked(job_id)])):
            raise SchedulerError(f"job {job_id} has been queued again meanwhile")
        excluded = self._ask_about(job_id, "%x")
        self._slurm.ask("scontrol", "requeue", job_id)
        more = [node for node in exclude_nodes if node not in expand(excluded)]
        if more:
            self._update(job_id, f"ExcNodeList={','.join(filter(None, [excluded, *more]))}")
        # without a start time Slurm keeps a requeued job back for two minutes, which is all that
        # happens where this fails
        with suppress(SchedulerError):
            self._wait_until_stopped(job_id)
            self._update(job_id, f"StartTime=now+{math.ceil(max(_CREDENTIAL_S, delay_s))}")

    def set_nice(self, job_id: JobId, nice: int) -> None:
        self._update(job_id, f"Nice={nice}")

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        limit = "UNLIMITED" if seconds is None else str(minutes(seconds))
        self._update(job_id, f"TimeLimit={limit}")

    def gpu_use(self, job: Job) -> GpuUse | None:
        """See `MeasuresGpus`. Of all steps; one that accounting has not heard of yet counts not."""
        if not job.request.gpus or not self._accounting():
            return None
        separator, form = parsing.new_separator(), ",".join(gpu_use.FIELDS)
        which = ["-j", _checked(job.id), f"--delimiter={separator}", "-o", form]
        text = self._slurm.ask("sacct", "-n", "-a", "-p", *which)
        return gpu_use.gpu_use(parsing.records(text, gpu_use.FIELDS, separator), job.request.gpus)

    def rights(self) -> Rights:
        """See `KnowsRights`."""
        return rights.rights(self._slurm, accounting=self._accounting())

    def _ask_about(self, job_id: JobId, field: str) -> str:
        answer = self._slurm.ask("squeue", "-h", "-tall", "-j", _checked(job_id), "-o", field)
        return answer.partition("\n")[0].strip()

    def _wait_until_stopped(self, job_id: JobId) -> None:
        """Slurm sets the start time anew when the last process of the old run has gone."""
        deadline = time.monotonic() + self._slurm.timeout_s
        while self._ask_about(job_id, "%T") == "COMPLETING" and time.monotonic() < deadline:
            time.sleep(_STOPPING_POLL_S)

    def _update(self, job_id: JobId, *changes: str) -> None:
        self._slurm.ask("scontrol", "update", f"JobId={_checked(job_id)}", *changes)

    def _held(self, ids: set[JobId] | None) -> list[Job]:
        separator = parsing.new_separator()
        which = [] if ids is None or len(ids) > _MOST_IDS else ["-j", ",".join(sorted(ids))]
        form = parsing.squeue_format(separator)
        try:
            text = self._slurm.ask("squeue", "-h", "-a", "-r", "-tall", *which, "-O", form)
        except NotFound:  # only where one single id was asked for
            return []
        rows = parsing.records(text, parsing.SQUEUE_FIELDS, separator)
        return _only(ids, [parsing.queued_job(row, _is_file) for row in rows])

    def _accounted(self, ids: set[JobId] | None, *, but: set[JobId]) -> list[Job]:
        if not self._accounting():
            return []
        separator = parsing.new_separator()
        few = ids is not None and len(ids) <= _MOST_IDS
        which = (
            ["-j", ",".join(sorted(ids or ()))] if few else ["-S", f"now-{self._history_days}days"]
        )
        form = ",".join(parsing.SACCT_FIELDS)
        text = self._slurm.ask(
            "sacct", "-n", "-a", "-X", "-D", "-p", f"--delimiter={separator}", *which, "-o", form
        )
        rows = parsing.records(text, parsing.SACCT_FIELDS, separator)
        return [job for job in _only(ids, parsing.accounted_jobs(rows)) if job.id not in but]

    def _accounting(self) -> bool:
        if self._has_accounting is None:
            config = self._slurm.ask("scontrol", "show", "config")
            found = re.search(r"^AccountingStorageType\s*=\s*(\S*)", config, re.MULTILINE)
            self._has_accounting = found is not None and found[1].endswith("slurmdbd")
        return self._has_accounting


@lru_cache(maxsize=65536)
def _is_file(path: str) -> bool:
    """Kept, because the same scripts are asked about again and again."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's raises for a name that is too long


def _names(job_id: JobId) -> set[JobId]:
    """`12_3` answers to 12 as well."""
    return {job_id, re.split("[_+]", job_id)[0]}


def _only(ids: set[JobId] | None, jobs: list[Job]) -> list[Job]:
    return jobs if ids is None else [job for job in jobs if _names(job.id) & ids]


def _checked(job_id: JobId) -> JobId:
    if not _JOB_ID.fullmatch(job_id):
        raise NotFound(f"{job_id!r} is no Slurm job id")
    return job_id

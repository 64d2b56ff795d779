"""Slurm as a `Scheduler`.

The controller is asked with one squeue for everything it still holds, ended jobs included
(MinJobAge, five minutes by default). What it has let go of is looked up with one sacct, where
the site has accounting; where it has none, a job is known for as long as the controller holds
it. A question that fails raises: an empty answer is never made up. Only the list of all jobs does
without accounting while that is away, and asks it again a while later.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING

from schedmate.model import (
    JobState,
    NotAllowed,
    NotFound,
    PartlyKnown,
    SchedulerError,
    SchedulerUnreachable,
)
from schedmate.model.account import account_name
from schedmate.model.priority import NICE_HOURS
from schedmate.model.warning_signal import signal_in_script
from schedmate.schedulers.slurm import (
    activity,
    attempts,
    grouping,
    history,
    nodes,
    ordering,
    parsing,
    reasons,
    rights,
    trial,
)
from schedmate.schedulers.slurm.accounting import Accounting
from schedmate.schedulers.slurm.changes import CommandChanges, SlurmChanges, Target
from schedmate.schedulers.slurm.commands import SlurmCommands
from schedmate.schedulers.slurm.constraints import allows, excluding
from schedmate.schedulers.slurm.gpu_use import MeasuredRuns
from schedmate.schedulers.slurm.job_ids import JOB_ID, checked_id, names_of, only, whole_id
from schedmate.schedulers.slurm.logs import is_file
from schedmate.schedulers.slurm.refusals import refuse_elsewhere, refuse_unless_pending
from schedmate.schedulers.slurm.requeueing import Requeueing
from schedmate.schedulers.slurm.shards import LendsGpus
from schedmate.schedulers.slurm.site import SlurmSite
from schedmate.schedulers.slurm.source import MOST_IDS, CommandSource, Shown, SlurmSource
from schedmate.schedulers.slurm.submitting import minutes, run_sbatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.model import Activity, GpuUse, Job, JobId, NodeState, Submission
    from schedmate.schedulers.base import AccountedRun, Obstacle, Rights, Trial
    from schedmate.schedulers.slurm.changes import Field
    from schedmate.schedulers.slurm.transport import Transport

_SITE_S = 3600.0
"""How long a site's configuration is taken to be unchanged."""
_log = logging.getLogger("schedmate.slurm")


class SlurmScheduler(LendsGpus):
    name = "slurm"

    def __init__(
        self,
        *,
        timeout_s: float = 30.0,
        cluster: str = "",
        history_days: int = 1,
        nice_range: int | None = None,
        nice_hours: float = NICE_HOURS,
        updates_a_minute: int = 1200,
        rest: Transport | None = None,
    ) -> None:
        self._slurm = SlurmCommands(timeout_s, cluster)
        self._source: SlurmSource = CommandSource(self._slurm)
        self._changes: SlurmChanges = CommandChanges(self._slurm)
        self._rest = rest.opened(self._slurm, self._source, self._changes) if rest else None
        if self._rest is not None:
            self._source, self._changes = self._rest.source, self._rest.changes
        self._history_days = history_days
        self._nice_range, self._nice_hours = nice_range, nice_hours
        self._read_site: tuple[float, SlurmSite] | None = None
        self._accounting, self._measured = Accounting(), MeasuredRuns()
        self._allowance = ordering.Allowance(updates_a_minute)
        self._reader = grouping.QueueReader(is_file)
        self._queue = self._reader.read((), SlurmSite)
        """As the last look at all jobs has shown it."""
        self._attempts: list[Job] = []

    def submit(self, submission: Submission) -> JobId:
        return self._changes.submit(submission)

    run_submit_command = staticmethod(run_sbatch)
    """See `HasSubmitCommand`."""

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        """See `Scheduler.jobs`. An array's id means all its tasks, a step's its job."""
        if ids is None:
            return self._all()
        wanted = {job_id for job_id in map(whole_id, ids) if JOB_ID.fullmatch(job_id)}
        held = self._held(wanted) if wanted else []
        found = {name for job in held for name in names_of(job.id)}
        forgotten = wanted - found
        return held + (self._looked_up(forgotten, held) if forgotten else [])

    def _all(self) -> list[Job]:
        """Everything; jobs that are listed no more have ended only if Slurm confirms it."""
        before = self._queue
        held, past = self._past(self._held(None))
        missing = before.unfinished - self._queue.listed - {job.id for job in past}
        again = self._source.queued(set(missing)) if missing else []
        kept = sorted(missing & {row["JobArrayID"] for row in again})
        if kept:
            self._queue = before
            raise SchedulerUnreachable(
                f"squeue left out {len(kept)} jobs that Slurm still has, for example {kept[0]}: "
                "nothing is concluded from this answer"
            )
        return self._measured.list(held + past)

    def earlier_attempts(self) -> list[Job]:
        return self._attempts

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        """See `Scheduler.nodes`. All are asked for: one unknown name would spoil the answer."""
        found = self._source.nodes()
        return found if names is None else [node for node in found if node.name in set(names)]

    def script(self, job_id: JobId) -> str | None:
        """The script; for a plain command the two lines that were made of it."""
        try:
            text = self._slurm.ask("scontrol", "write", "batch_script", checked_id(job_id), "-")
        except NotAllowed:  # another user's: it is known by what Slurm shows of it
            return None
        except NotFound:  # the controller has let go of it
            if not self._site().keeps_scripts or self._accounting.pausing:
                raise
        else:
            if not text:  # Slurm takes no empty script
                raise SchedulerUnreachable(f"scontrol gave no script of job {job_id}")
            return text
        stored = self._accounting.answer(lambda: self._slurm.ask("sacct", "-B", "-j", job_id))
        found = parsing.stored_script(stored)
        if found is None:
            raise NotFound(f"Slurm has not kept the script of job {job_id}")
        return found

    def cluster(self) -> str:
        return self._site().cluster

    def ended_between(
        self, start: float, end: float, user: str | None = None
    ) -> list[AccountedRun]:
        """See `KeepsHistory`. Nothing where the site has no accounting."""
        if not self._site().has_accounting:
            return []
        return history.ended_between(self._slurm.ask, start, end, user)

    def held_for_s(self) -> float:
        """See `KeepsHistory`."""
        return self._site().held_for_s

    def stored_scripts(self, ids: Sequence[JobId]) -> dict[JobId, str]:
        """See `KeepsHistory`."""
        wanted = [job_id for job_id in ids if JOB_ID.fullmatch(job_id)]
        return history.stored_scripts(self._slurm.ask, wanted) if self._site().keeps_scripts else {}

    def cancel(self, job_id: JobId) -> None:
        # scancel is silent about a job it does not know
        jobs = self.jobs([checked_id(job_id)])
        if not jobs:
            raise NotFound(f"Slurm does not know job {job_id}")
        refuse_elsewhere(job_id, jobs[0].cluster)
        if not all(job.state.ended for job in jobs):
            single = job_id.isdecimal() and [job.id for job in jobs] == [job_id]
            several = jobs[0].components or jobs[0].tasks > 1
            self._changes.cancel(Target(job_id, single and not several))

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int,
        exclude_nodes: Sequence[str] = (),
        delay_s: float = 0.0,
        held: bool = False,
    ) -> bool:
        """See `Scheduler.requeue`. Nodes that were excluded before stay so."""
        return Requeueing(
            changes=self._changes,
            look=self._record,
            excluded=self._excluded,
            job_id=checked_id(job_id),
            run=run,
            exclude_nodes=exclude_nodes,
            delay_s=delay_s,
            held=held,
        ).go_on()

    def warning_s(self, job_id: JobId) -> float | None:
        """See `WarnsRuns`. Slurm does not show what was asked for on sbatch's command line."""
        wanted = signal_in_script(self.script(job_id) or "")
        return None if wanted is None else wanted.before_s

    def warn(self, job_id: JobId) -> None:
        wanted = signal_in_script(self.script(job_id) or "")
        if wanted is not None:
            self._changes.signal(job_id, wanted.name, batch=wanted.first_only)

    def may_run_on(self, job: Job, node: NodeState) -> bool:
        return allows(job.request, node)

    def hold(self, job_id: JobId) -> None:
        """See `Scheduler.hold`. A user's hold: its owner could not lift an administrator's."""
        refuse_unless_pending(self._record(checked_id(job_id)))
        name = self._waiting_name(job_id)
        self._changes.hold(name)
        try:
            refuse_unless_pending(self._record(job_id))
        except SchedulerError:
            # Slurm takes a hold of a running job in silence, and would hold its next run
            self._changes.release(name)
            raise

    def release(self, job_id: JobId) -> None:
        """See `Scheduler.release`. A release also resets the priority of a job that is not held."""
        if parsing.is_held(self._record(checked_id(job_id))):
            self._changes.release(self._waiting_name(job_id))

    def set_nice(self, job_id: JobId, nice: int) -> None:
        self._update(job_id, "Nice", str(nice))

    def set_nices(self, numbers: Mapping[JobId, int]) -> Mapping[JobId, str]:
        """See `OrdersInBulk`. Arrays as the last look at all jobs showed them."""
        return ordering.set_nices(self._changes, numbers, self._queue, self._allowance)

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        limit = "UNLIMITED" if seconds is None else str(minutes(seconds))
        self._update(job_id, "TimeLimit", limit)

    def set_time_min(self, job_id: JobId, seconds: float | None) -> None:
        """See `PlansApart`."""
        if not self._site().soft_limits:
            raise SchedulerError("without time_min_as_soft_limit TimeMin would change the limit")
        self._update(job_id, "TimeMin", "0" if seconds is None else str(minutes(seconds)))

    def set_excluded(self, job_id: JobId, nodes: Sequence[str]) -> None:
        self._update(job_id, "ExcNodeList", ",".join(nodes))

    def set_dependency(self, job_id: JobId, dependency: str) -> None:
        """See `RenewsDependencies`."""
        self._update(job_id, "Dependency", dependency)

    def drain(self, node: str, reason: str) -> None:
        """See `DrainsNodes`."""
        nodes.refuse_unless_up(node, self.nodes([node]))
        self._slurm.ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", f"Reason={reason}")

    def resume(self, node: str, reason: str) -> None:
        """See `DrainsNodes`."""
        nodes.refuse_unless_drained(node, reason, self.nodes([node]))
        self._slurm.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")

    def gpu_use(self, job: Job) -> GpuUse | None:
        """See `MeasuresGpus`."""
        if not job.request.gpus or not self._site().has_accounting or self._accounting.pausing:
            return None
        return self._accounting.answer(partial(self._measured.of, job, self._slurm.ask))

    def obstacle(self, job: Job) -> Obstacle | None:
        return reasons.obstacle(job, Shown(self._source))

    def submit_lines(self, ids: Sequence[JobId]) -> dict[JobId, str]:
        """See `KnowsSubmitLines`. Accounting may not have heard of a job yet."""
        if not self._site().has_accounting or self._accounting.pausing:
            return {}
        return self._accounting.answer(partial(history.submit_lines, self._slurm.ask, ids))

    def appends_logs(self) -> bool:
        """See `MayOverwriteLogs`."""
        return self._site().appends_logs

    def activity(self, jobs: Sequence[Job]) -> dict[JobId, Activity]:
        """See `MeasuresActivity`. sstat knows this machine's own cluster only."""
        if self._slurm.cluster:
            return {}
        return activity.measured(self._slurm.ask, jobs, self._source.nodes)

    def rights(self) -> Rights:
        """See `KnowsRights`."""
        return rights.rights(self._slurm, accounting=lambda: self._site().has_accounting)

    def try_rights(self) -> list[Trial]:
        """See `TriesRights`."""
        tried = trial.try_rights(self._slurm, self.jobs(), account_name(), self.rights())
        return tried if self._rest is None else [self._rest.trial(), *tried]

    def _excluded(self, job_id: JobId) -> str:
        return self._exclusions({checked_id(job_id)}).get(job_id, "")

    def _exclusions(self, ids: set[JobId]) -> dict[JobId, str]:
        found = self._source.excluded_nodes(ids)
        # what the first part of a heterogeneous job excludes stands for the whole
        return {job_id.removesuffix("+0"): nodes for job_id, nodes in found.items()} | found

    def _record(self, job_id: JobId) -> parsing.Record:
        return self._rows_of(job_id)[0]

    def _rows_of(self, job_id: JobId) -> list[parsing.Record]:
        """What squeue shows of one job: of an array, of its tasks that wait as one; of a
        heterogeneous job, of its parts, the first of them first.
        """
        rows = [
            row
            for row in self._source.queued({job_id})
            if job_id in (row["JobArrayID"], grouping.array_record(row), parsing.het_job(row))
        ]
        if not rows:
            raise NotFound(f"Slurm's controller does not know job {job_id}")
        refuse_elsewhere(job_id, parsing.other_cluster(rows[0], self._site().cluster))
        return sorted(rows, key=lambda row: int(row["JobID"]))

    def _update(self, job_id: JobId, field: Field, value: str) -> None:
        rows = self._rows_of(checked_id(job_id))
        single = job_id.isdecimal() and [row["JobArrayID"] for row in rows] == [job_id]
        target = Target(self._waiting_name(job_id, rows), single)
        self._changes.update(target, field, value)

    def _waiting_name(self, job_id: JobId, known: Sequence[parsing.Record] = ()) -> str:
        """An array's id alone would mean its running tasks too, and those that a user changed."""
        rows = known or self._rows_of(job_id)
        if any(job_id in (row["JobArrayID"], parsing.het_job(row)) for row in rows):
            return job_id
        tasks = [int(row["ArrayTaskID"]) for row in rows]
        return f"{job_id}_[{grouping.task_ranges(tasks)}]"

    def _held(self, ids: set[JobId] | None) -> list[Job]:
        reader = self._reader if ids is None else grouping.QueueReader(is_file)
        queue = reader.read(self._source.queued(ids), self._site, apart=ids or ())
        if ids is None:
            self._queue = queue
        jobs = only(ids, queue.jobs)
        if ids is None or len(ids) > MOST_IDS:
            return jobs
        # before its first run no decision depends on them
        asked = {job.id for job in jobs if job.restarts or job.state is not JobState.PENDING}
        excluded = self._exclusions(asked) if asked else {}
        return [excluding(job, excluded.get(job.id, "")) for job in jobs]

    def _past(self, held: list[Job]) -> tuple[list[Job], list[Job]]:
        """Those that are held with their first submission, and what only accounting knows; nothing
        of it, for a while, where accounting does not answer."""
        rows: list[parsing.Record] = []
        if not self._accounting.pausing:
            try:
                rows = self._accounting_rows(None)
            except SchedulerError as error:
                _log.warning("ended jobs that only accounting knows are missing for now: %s", error)
        held, self._attempts = attempts.with_attempts(held, rows, self.held_for_s())
        names, keep_s = {job.id for job in held}, self._site().keep_s
        past = attempts.accounted_jobs(rows, keep_s=keep_s)
        return held, [job for job in past if job.id not in names]

    def _looked_up(self, ids: set[JobId], held: list[Job]) -> list[Job]:
        """Of jobs that the controller does not know; that accounting is away ends none of them."""
        complaint = f"job {min(ids)} may be known to accounting, which does not answer"
        if self._accounting.pausing:
            raise PartlyKnown(complaint, held)
        try:
            return self._accounted(ids, but={job.id for job in held})
        except SchedulerError as error:
            raise PartlyKnown(f"{complaint}: {error}", held) from error

    def _accounted(self, ids: set[JobId], *, but: set[JobId]) -> list[Job]:
        rows = self._accounting_rows(ids)
        found = attempts.accounted_jobs(rows, apart=ids, keep_s=self._site().keep_s)
        return [job for job in only(ids, found) if job.id not in but]

    def _accounting_rows(self, ids: set[JobId] | None) -> list[parsing.Record]:
        if not self._site().has_accounting:
            return []
        days = self._history_days
        return self._accounting.answer(lambda: list(self._source.accounted(ids, days)))

    def _site(self) -> SlurmSite:
        now = time.monotonic()
        if self._read_site is None or now - self._read_site[0] > _SITE_S:
            config = self._source.config()
            site = SlurmSite.read(config, self._nice_range, self._nice_hours)
            self._read_site = (now, site)
        return self._read_site[1]

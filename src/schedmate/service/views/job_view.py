"""One job's whole view, put together from the scheduler and the store."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.core import DOOMED_BY_WARNING, is_opted_out
from schedmate.handler.suspects import Suspicion
from schedmate.model import (
    ActionRecord,
    Advice,
    Decision,
    Diagnosis,
    Job,
    JobId,
    JobState,
    NotFound,
    Progress,
    SchedulerError,
    Spread,
)
from schedmate.model.job import whole_of
from schedmate.model.masking import masked
from schedmate.schedulers.base import ExplainsWaiting, Obstacle
from schedmate.service.met_jobs import met_jobs
from schedmate.service.records.lateness import all_lateness
from schedmate.service.records.nodes import NodeKnowledge
from schedmate.service.views.parts import Parts, parts_of, parts_of_whole
from schedmate.service.visibility import owners_in
from schedmate.store import KeptAdvice, KeptProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.schedulers.base import Scheduler
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store


_ABOUT_FAILURES = ("requeue", "cancel", "leave", "warn")
_FRESH_S = 90.0
"""Three looks of a polite daemon: what is older was left behind by one that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOutcome:
    """Of the newest attempt that was diagnosed."""

    attempt: int
    failure: str
    """What it is taken for now."""
    recommended: Decision
    """What the diagnosis recommends, for an attempt about which nothing was decided yet."""
    record: ActionRecord | None = None
    """The newest decision about it."""
    before: ActionRecord | None = None
    """What was decided when it was taken for another failure."""
    restarted: bool = False
    """The job has been queued again since, by SchedMate or by hand."""

    @property
    def excluded(self) -> tuple[str, ...]:
        if self.record is None:
            return self.recommended.exclude_nodes
        return self.record.action.exclude_nodes

    @property
    def was(self) -> str:
        """What it was taken for before, where that has been corrected since."""
        return "" if self.before is None else self.before.action.failure


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """Record, prediction, progress, diagnoses (by attempt) and actions of one job.

    `progress_at` is when its log was last read, `suspects` are nodes of a failed run
    that failed others too.
    """

    job: Job
    advice: Advice | None = None
    progress: Progress | None = None
    progress_at: float | None = None
    diagnoses: dict[int, Diagnosis]
    actions: tuple[ActionRecord, ...] = ()
    retry: RetryOutcome | None = None
    suspects: tuple[Suspicion, ...] = ()
    before: Job | None = None
    """The run before its present one, as it was remembered."""
    obstacle: Obstacle | None = None
    """What keeps a waiting job from starting, where its scheduler can tell."""
    late_s: float | None = None
    """About so much later is a waiting job because of SchedMate; None: it is not counted."""

    @property
    def predicted(self) -> Spread | None:
        return None if self.advice is None else self.advice.prediction.duration_s

    @property
    def errors(self) -> tuple[str, ...]:
        """What a job that waits will fail of, by its files."""
        if self.advice is None or self.job.state is not JobState.PENDING:
            return ()
        return tuple(one.text for one in self.advice.advice if one.level == "error")

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What the newest attempt that was diagnosed died of."""
        return self.diagnoses[max(self.diagnoses)] if self.diagnoses else None

    @property
    def doomed(self) -> ActionRecord | None:
        """What was last decided about its present run going on for nothing; a stop before a
        message."""
        found = [
            one
            for one in self.actions
            if _has_code(one, "doomed")
            and one.action.attempt == self.job.restarts
            and (one.action.kind == "cancel" or self._shows_still(one))
        ]
        return max(found, key=lambda one: (one.action.kind == "cancel", one.at), default=None)

    def _shows_still(self, told: ActionRecord) -> bool:
        """Whether its log does not show by now that it went on well."""
        progress, failure = self.progress, told.action.failure
        if progress is None or self.job.state is not JobState.RUNNING:
            return True
        if self.progress_at is not None and self.progress_at <= told.at:
            return True  # what is kept of its progress is older
        if failure in ("idle", "hang"):
            silent_s = None if progress.silence is None else progress.silence.silent_s
            wrote_at = None if silent_s is None else (self.progress_at or told.at) - silent_s
            return wrote_at is None or wrote_at <= told.at
        reasons = {one for one, its in DOOMED_BY_WARNING.items() if its == failure}
        firm = {one.reason for one in progress.warnings if one.firm}
        return not reasons or not firm.isdisjoint(reasons)

    def is_overdue(self, now: float) -> bool:
        """Whether it runs for longer than predicted."""
        if self.job.state is not JobState.RUNNING or self.job.start_time is None:
            return False
        spread = self.predicted
        return spread is not None and not spread.too_wide and now - self.job.start_time > spread.p90

    @property
    def is_silent(self) -> bool:
        """Whether its log counted towards an end, and by its own pace would be there by now."""
        counted = self.progress
        if counted is None or counted.eta_s is not None or not counted.rate_per_s:
            return False
        done = counted.work_fraction
        return done is not None and done < 1 and counted.ends_by in ("total", "early_stop")

    def remaining_s(self, now: float) -> Spread | None:
        """Seconds to the end: from the log if it shows them, else from the prediction.

        None where neither states any: a prediction that says next to nothing, an end that is
        past while the job runs on, or a run that has stalled or fallen silent.
        """
        if self.job.state is not JobState.RUNNING or self.is_silent:
            return None
        if self.progress is not None and self.progress.phase == "stalled":
            return None
        if self.progress is not None and self.progress.eta_s is not None:
            return _later(self.progress.eta_s, now - (self.progress_at or now))
        if self.predicted is None or self.job.start_time is None:
            return None
        return self.predicted.left_after(now - self.job.start_time)


def _has_code(record: ActionRecord, *codes: str) -> bool:
    return record.action.reason is not None and record.action.reason.code in codes


def _later(spread: Spread, seconds: float) -> Spread | None:
    """What is left of a time when so much of it has passed; None where it is overdue."""
    if seconds > spread.p10:
        return spread.left_after(seconds)  # it is one of those that take longer
    return Spread(*(max(0.0, q - seconds) for q in (spread.p10, spread.p50, spread.p90)))


def job_views(
    scheduler: Scheduler, store: Store, viewer: Viewer, ids: Sequence[JobId] | None = None
) -> list[JobView]:
    """These jobs, or all that the scheduler still knows, as `viewer` may see them."""
    return views_of(met_jobs(scheduler, store, ids), store, viewer)


def views_of(jobs: Sequence[Job], store: Store, viewer: Viewer) -> list[JobView]:
    return [masked_for(viewer, _view(job, store, viewer)) for job in jobs]


def job_view(scheduler: Scheduler, store: Store, viewer: Viewer, job_id: JobId) -> JobView:
    """One job, from history when the scheduler has forgotten it.

    A failure that no daemon has looked at yet, or whose log it could not read, is looked at here,
    by the rules alone.
    """
    job_id = store.called(job_id)
    found = met_jobs(scheduler, store, [job_id])
    run = None if found else store.run(job_id)
    if not found and run is None:
        raise NotFound(f"neither {scheduler.name} nor the history knows a job {job_id}")
    parts = sorted(found, key=lambda job: job.id != job_id)
    view = _view(parts[0] if run is None else run.job, store, viewer)
    if not viewer.may_read(view.job.user):
        return view
    nodes, now = NodeKnowledge(scheduler, store), time.time()
    view = _diagnosed(explained(view, scheduler, nodes, now), nodes, store, now)
    return masked_for(viewer, replace(view, suspects=tuple(map(viewer.suspicion, view.suspects))))


def explained(view: JobView, scheduler: Scheduler, nodes: NodeKnowledge, now: float) -> JobView:
    """With what keeps a waiting job from starting, or which nodes of a failed one are suspect."""
    job = view.job
    never_ran = job.state is JobState.CANCELLED and not job.started and job.reason
    if (never_ran or job.state is JobState.PENDING) and isinstance(scheduler, ExplainsWaiting):
        try:
            return replace(view, obstacle=scheduler.obstacle(job))
        except SchedulerError:  # the reason alone is shown
            return view
    if job.state.failed:
        return replace(view, suspects=nodes.suspects_among(job.nodes, now))
    return view


def masked_for(viewer: Viewer, view: JobView) -> JobView:
    """Without the secrets of a job that is another user's."""
    return view if viewer.user == view.job.user else masked(view)


def parts_in(scheduler: Scheduler, job_id: JobId) -> tuple[Parts, ...]:
    """The parts of an array or a heterogeneous job; empty for any other."""
    jobs = scheduler.jobs([job_id])
    whole = next((job for job in jobs if job.components), None)
    if whole is not None:
        return parts_of_whole(whole, scheduler.jobs(whole.components))
    return parts_of(job_id, jobs)


def _diagnosed(view: JobView, nodes: NodeKnowledge, store: Store, now: float) -> JobView:
    job = view.job
    known = view.diagnoses.get(job.restarts)
    is_read = job.started and not is_opted_out(job)
    if job.state.failed and is_read and (known is None or known.unread_logs):
        from schedmate.handler import Case, Handler

        case = Case.of_job(
            job,
            workload=None if view.advice is None else view.advice.workload,
            complete=view.progress is not None and view.progress.complete,
            node_states=nodes.states_of(job, now),
            suspects=tuple(one.node for one in view.suspects),
        )
        found = {job.restarts: Handler(store).diagnose(case)}
        view = replace(view, diagnoses={**view.diagnoses, **found})
    outcome = retry_outcome(job, view.diagnoses, view.actions)
    run = store.run(job.id, job.restarts - 1) if job.restarts else None
    return replace(view, retry=outcome, before=None if run is None else run.job)


def _view(job: Job, store: Store, viewer: Viewer) -> JobView:
    owner, kept = job.user, advice_on(job.id, store)
    job, whole = viewer.job(job), viewer.may_read(owner)
    seen = _progress(job, store)
    return JobView(
        job=job,
        advice=None if kept is None else viewer.advice(kept.advice, owner, owners_in(store)),
        progress=None if seen is None else viewer.progress(seen.progress, owner),
        progress_at=None if seen is None else seen.at,
        diagnoses=store.diagnoses(job.id) if whole else {},
        actions=actions_on(job.id, store) if whole else (),
        late_s=all_lateness(store).get(job.id) if whole else None,
    )


def advice_on(job_id: JobId, store: Store) -> KeptAdvice | None:
    """A task or a part is read and advised with the job that it is of."""
    found = store.advice(job_id)
    whole = whole_of(job_id)
    return found if found is not None or whole == job_id else store.advice(whole)


def actions_on(job_id: JobId, store: Store) -> tuple[ActionRecord, ...]:
    """What is done to a heterogeneous job is done to its parts."""
    return tuple(store.actions(job_id=whole_of(job_id) if "+" in job_id else job_id))


def _progress(job: Job, store: Store) -> KeptProgress | None:
    """What the daemon saw last; where none is about, the log is read here and now."""
    now = time.time()
    kept = store.progress(job.id, job.restarts)
    if job.state is not JobState.RUNNING or not job.logs:  # logs that one may not see are none
        return kept
    if kept is not None and now - kept.at < _FRESH_S:
        return kept
    from schedmate.service.records.run_tracking import track_run

    return KeptProgress(track_run(job, store).tracker.poll(now, writing=True), now)


def retry_outcome(
    job: Job, diagnoses: dict[int, Diagnosis], records: Sequence[ActionRecord]
) -> RetryOutcome | None:
    """None where no attempt was diagnosed."""
    if not diagnoses:
        return None
    attempt = max(diagnoses)
    failure = diagnoses[attempt].reason
    about = [
        record
        for record in records
        if record.action.attempt == attempt
        and record.action.kind in _ABOUT_FAILURES
        # about runs that go on for nothing or share a GPU: none that has failed
        and not _has_code(record, "doomed", "could_share", "slow_beside")
    ]
    now = [record for record in about if record.action.failure in ("", failure)]
    earlier = [record for record in about if record.action.failure not in ("", failure)]
    return RetryOutcome(
        attempt=attempt,
        failure=failure,
        recommended=diagnoses[attempt].decision,
        record=now[-1] if now else None,
        before=earlier[-1] if earlier else None,
        restarted=job.restarts > attempt,
    )

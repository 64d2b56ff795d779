"""What the pages and the API show of the whole site, each put together once for both."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.service.views.node_answers import node_answer
from schedmate.service.views.queue_order import QueueOrder, turn
from schedmate.service.views.site_answers import (
    AccuracyAnswer,
    ClusterAnswer,
    FailuresAnswer,
    ModelAnswer,
    NodesPage,
    OverTime,
    Series,
    Summary,
    WaitingJob,
    WeekError,
)
from schedmate.service.views.site_load import Load, loads
from schedmate.service.wiring import model_standing
from schedmate.web.paging import page_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedmate.model import Job
    from schedmate.service.visibility import Viewer
    from schedmate.web.paging import Paging
    from schedmate.web.readings import By, Readings
    from schedmate.web.site import Site


def cluster_of(
    site: Site, readings: Readings, viewer: Viewer, paging: Paging, *, hours: int, by: By
) -> ClusterAnswer:
    now = time.time()
    views = site.board.views()
    use = readings.use(now, hours=hours, by=by)
    pending = sorted(
        (view for view in views if view.job.state is JobState.PENDING),
        key=lambda view: turn(view.job),
    )
    shown, following = page_of(pending, paging, hours=hours, by=by)
    starts = readings.starts(now)
    order = QueueOrder((view.job for view in views), now)
    return ClusterAnswer(
        use=_over_time(use.over_time.begin, use.over_time.step_s, use.over_time.rows),
        counts_jobs=use.over_time.counts_jobs,
        users=use.users,
        partitions=use.partitions,
        waiting=tuple(
            _waiting(view.job, site.why(view, order), starts.get(view.job.id), now)
            for view in (site.shown_to(viewer, one) for one in shown)
        ),
        total=len(pending),
        next=following,
    )


def _waiting(job: Job, why: str, start_s: float | None, now: float) -> WaitingJob:
    return WaitingJob(
        job_id=job.id,
        name=job.name,
        user=job.user,
        partition=job.request.partition or "",
        gpus=job.request.gpus,
        nodes=job.request.nodes,
        tasks=job.tasks,
        waits_s=max(0.0, now - job.submit_time),
        start_s=start_s,
        why=why,
    )


def nodes_of(site: Site, viewer: Viewer, paging: Paging, *, q: str, suspect: bool) -> NodesPage:
    """`q` is a part of the name."""
    fitting = [
        view
        for view in site.nodes.views(time.time())
        if q in view.name and (view.suspicion.suspect or not suspect)
    ]
    shown, following = page_of(fitting, paging, q=q, suspect="true" if suspect else "")
    running = Counter(
        node for job in site.board.jobs() if job.state is JobState.RUNNING for node in job.nodes
    )
    scheduler = site.settings.scheduler
    return NodesPage(
        nodes=tuple(
            node_answer(view, viewer, scheduler, running=running[view.name]) for view in shown
        ),
        total=len(fitting),
        next=following,
    )


def failures_of(readings: Readings, viewer: Viewer, *, days: int) -> FailuresAnswer:
    found = readings.failures(viewer, time.time(), days=days)
    return FailuresAnswer(
        over_time=_over_time(found.over_time.begin, found.over_time.step_s, found.over_time.rows),
        ended_over_time=found.over_time.ended,
        kinds=found.kinds,
        ended=found.ended,
        failed=found.failed,
    )


def accuracy_of(readings: Readings) -> AccuracyAnswer:
    now = time.time()
    measured = readings.accuracy(now)
    return AccuracyAnswer(
        predictions=tuple(measured.predictions),
        etas=tuple(measured.etas),
        diagnoses=readings.diagnoses(now),
        by_week=tuple(WeekError(at=at, error=error) for at, error in measured.by_week),
    )


def model_of(site: Site, readings: Readings, *, days: int) -> ModelAnswer:
    spent = site.store.spending()
    used = readings.model_use(time.time(), days=days, questions=spent.questions)
    tier, exam = model_standing(site.settings, site.store)
    return ModelAnswer(
        tier=tier,
        exam=exam,
        enabled=site.settings.llm.enabled,
        questions=used.questions,
        tokens=used.tokens,
        over_time=_over_time(used.begin, used.step_s, used.rows),
        purposes=used.purposes,
        models=dict(used.models),
        spent=spent,
    )


def summary_of(site: Site, viewer: Viewer) -> Summary:
    views, now = site.board.views(), time.time()
    active = [view for view in views if not view.job.state.ended]
    states: Counter[str] = Counter()
    for view in views:
        states[view.job.state.value] += view.job.tasks
    of_all = loads(active, (), since=now, now=now, by=lambda *_: "all")
    return Summary(
        states=dict(states),
        load=of_all[0] if of_all else Load(name="all"),
        users=_by_name(loads(active, (), since=now, now=now, by=lambda user, _: user)),
        partitions=_by_name(
            loads(active, (), since=now, now=now, by=lambda _, partition: partition)
        ),
        failures=dict(
            Counter(
                one.reason
                for view in views
                if viewer.may_read(view.job.user)
                for one in view.diagnoses.values()
            )
        ),
        looked_at=site.looked_at,
    )


def _by_name(found: Iterable[Load]) -> dict[str, Load]:
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def _over_time(
    begin: float, step_s: float, rows: Iterable[tuple[str, Sequence[float]]]
) -> OverTime:
    series = tuple(Series(name=name, values=tuple(values)) for name, values in rows)
    return OverTime(begin=begin, step_s=step_s, series=series)

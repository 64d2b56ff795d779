"""`/metrics`: what SchedMate itself knows, for Prometheus.

Only our own facts, from the board in memory: no scrape asks the scheduler. No label holds a job, a
user, a node or a path, so the number of series is bounded whatever runs.
"""

from __future__ import annotations

import threading
import time
from collections import Counter as Count
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import prometheus_client
from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

import schedmate
from schedmate.model import JobState, StoreUnavailable
from schedmate.service.records.pause import pause_of
from schedmate.service.views.accuracy import is_case
from schedmate.service.views.effects import Effects, effects_of
from schedmate.service.wiring import open_store
from schedmate.web.asking import AViewer
from schedmate.web.measured import Measured

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from schedmate.model import JobId
    from schedmate.service.views.job_view import JobView
    from schedmate.web.site import Site

router = APIRouter()
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call] # it has no types
_TIMES_OFF = (1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10, 30, 100)
_SHARES_OFF = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 10)
_EFFECTS_FRESH_S, _PATIENCE_S = 300.0, 1.0
_UNMATCHED = "unmatched"
DIAGNOSES = "schedmate_diagnoses"
_CORRECTED = "memory"
"""The source of a diagnosis that replaced another one because a person corrected it."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
Promise = tuple[int, float, float, float]
"""The first expected end of an attempt: its number, and the quantiles as points in time."""


class Metrics:
    """Counts what changes on the board; a restart begins at zero, as Prometheus expects."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = threading.Lock()
        self._before: dict[JobId, JobView] = {}
        self._promised: dict[JobId, Promise] = {}
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(_Snapshot(site))
        self._diagnoses = self._counter("diagnoses", "Diagnoses made, by their reason.", "reason")
        self._decisions = self._counter(
            "decisions", "Decisions of the engine, by what became of them.", "kind", "state"
        )
        self._predictions = self._counter(
            "predictions",
            "Ended runs by where their duration fell: below p10, within, above p90. Without those"
            " that were cancelled, took less than a second or had too wide a prediction.",
            "outcome",
        )
        self._times_off = self._histogram(
            "prediction_error_ratio",
            "How many times the real duration of a run was off its predicted median, from 1 on.",
            _TIMES_OFF,
        )
        self._etas = self._counter(
            "etas",
            "Completed runs by where their end fell in the first ETA: before p10, within, after"
            " p90.",
            "outcome",
        )
        self._eta_off = self._histogram(
            "eta_error_ratio",
            "How far the end of a run was off the median of its first ETA, by its run time.",
            _SHARES_OFF,
        )
        self.requests = self._counter(
            "http_requests", "Requests answered.", "method", "route", "status"
        )
        self.request_seconds = self._histogram(
            "http_request_duration_seconds", "Time to the end of an answer.", _SECONDS, "route"
        )
        site.listeners.append(self.changed)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"schedmate_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: Iterable[float], *labels: str) -> Histogram:
        return Histogram(
            f"schedmate_{name}", text, labels, registry=self.registry, buckets=tuple(buckets)
        )

    def changed(self, jobs: list[JobId]) -> None:
        """Listens to the site. What the first load of the board shows happened before."""
        loading = self._site.loading
        with self._lock:
            for job_id in set(jobs):
                view, before = self._site.board.view(job_id), self._before.get(job_id)
                if view is None or (before is not None and not before.job.is_same_job(view.job)):
                    before = None
                    self._before.pop(job_id, None)
                    self._promised.pop(job_id, None)
                if view is None:
                    continue
                if not loading:
                    self._count(before, view)
                self._before[job_id] = view

    def _count(self, before: JobView | None, view: JobView) -> None:
        known = {} if before is None else before.diagnoses
        for attempt, diagnosis in view.diagnoses.items():
            changed = attempt in known and known[attempt].reason != diagnosis.reason
            if attempt not in known or (changed and diagnosis.source != _CORRECTED):
                self._diagnoses.labels(diagnosis.reason).inc()
        done = {} if before is None else {one.action.key: one.state for one in before.actions}
        for record in view.actions:
            if done.get(record.action.key) != record.state:
                self._decisions.labels(record.action.kind, record.state).inc()
        self._promise(view)
        ended_before = before is not None and before.job.state.ended
        if view.job.state.ended and not ended_before:
            self._compare(view)

    def _promise(self, view: JobView) -> None:
        job, progress = view.job, view.progress
        known = self._promised.get(job.id)
        if known is not None and known[0] == job.restarts:
            return
        if job.state is not JobState.RUNNING or progress is None or progress.eta_s is None:
            return
        if not progress.eta_s.too_wide:
            at, eta = view.progress_at or time.time(), progress.eta_s
            self._promised[job.id] = (job.restarts, at + eta.p10, at + eta.p50, at + eta.p90)

    def _compare(self, view: JobView) -> None:
        job, real, predicted = view.job, view.job.run_time_s, view.predicted
        promise = self._promised.pop(job.id, None)
        if real is None or job.end_time is None:
            return
        if predicted is not None and is_case(job.state, real, predicted):
            self._predictions.labels(_place(real, predicted.p10, predicted.p90)).inc()
            longer, shorter = max(real, predicted.p50), min(real, predicted.p50)
            self._times_off.observe((longer + 1) / (shorter + 1))
        if promise is not None and job.state is JobState.COMPLETED and promise[0] == job.restarts:
            _, early, middle, late = promise
            self._etas.labels(_place(job.end_time, early, late)).inc()
            self._eta_off.observe(abs(job.end_time - middle) / max(real, 1.0))


def _place(value: float, low: float, high: float) -> str:
    if value < low:
        return "below"
    return "above" if value > high else "within"


class _Snapshot(Collector):
    """What the board and the store are like at the moment of a scrape."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._effects = Measured(self._measure_effects, Effects(), fresh_s=_EFFECTS_FRESH_S)

    def collect(self) -> Iterator[Metric]:
        site, views = self._site, self._site.board.views()
        yield InfoMetricFamily(
            "schedmate_build", "This version.", {"version": schedmate.__version__}
        )
        yield _gauge("start_time_seconds", "When this daemon started.", site.started_at)
        if site.looked_at is not None:
            yield _gauge(
                "last_look_timestamp_seconds",
                "When the scheduler was last seen.",
                site.looked_at,
            )
        yield from _jobs(views)
        sent = CounterMetricFamily(
            "schedmate_notifications",
            "Notifications, by how sending them went.",
            labels=["channel", "outcome"],
        )
        for (channel, outcome), number in list(site.notifications.items()):
            sent.add_metric([channel, outcome], number)
        yield sent
        yield CounterMetricFamily(
            "schedmate_failed_sign_ins",
            "Requests with a token that is not valid.",
            value=site.sign_ins.total,
        )
        yield from self._store()
        yield from _effects(self._effects.value(time.time(), patience_s=_PATIENCE_S))

    def _measure_effects(self, now: float) -> Effects:
        with closing(open_store(self._site.settings)) as store:
            return effects_of(store, now)

    def _store(self) -> Iterator[Metric]:
        try:
            spent, size = self._site.store.spending(), self._site.store.used_bytes()
            paused = pause_of(self._site.store, time.time()) is not None
        except StoreUnavailable:
            yield _gauge("store_up", "Whether the store can be read.", 0)
            return
        yield _gauge("store_up", "Whether the store can be read.", 1)
        yield _gauge("store_size_bytes", "Size of the store.", size)
        yield _gauge("paused", "Whether an operator has paused all actions.", paused)
        for name, text, value in (
            ("llm_questions", "Questions to the language model.", spent.questions),
            ("llm_calls", "Calls that they took, repairs included.", spent.calls),
            ("llm_tokens", "Tokens sent and received.", spent.tokens),
            ("llm_seconds", "Time that it took.", spent.seconds),
        ):
            yield CounterMetricFamily(f"schedmate_{name}", text, value=value)


def _effects(found: Effects) -> Iterator[Metric]:
    retries = GaugeMetricFamily(
        "schedmate_retries",
        "Runs queued again in the last seven days, by what became of them.",
        labels=["outcome"],
    )
    failed = found.retries_ended - found.retries_succeeded
    for outcome, number in (
        ("succeeded", found.retries_succeeded),
        ("failed", failed),
        ("open", found.retries - found.retries_ended),
    ):
        retries.add_metric([outcome], number)
    yield retries
    vain = GaugeMetricFamily(
        "schedmate_doomed_runs",
        "Runs that went on for nothing in the last seven days, by what became of them.",
        labels=["outcome"],
    )
    open_ones = found.doomed - found.doomed_stopped - found.doomed_ended
    for outcome, number in (
        ("stopped", found.doomed_stopped),
        ("cancelled", found.doomed_ended),
        ("open", open_ones),
    ):
        vain.add_metric([outcome], number)
    yield vain
    text = "Runs queued again before their limit, to go on, in the last seven days."
    yield _gauge("carried_on_runs", text, found.carried_on)
    for name, text, value in (
        ("rerun_gpu_seconds", "GPU time of runs after a retry.", found.rerun_gpu_hours),
        (
            "doomed_saved_gpu_seconds",
            "Estimate: GPU time that ended runs would have taken for nothing.",
            found.saved_gpu_hours,
        ),
        (
            "doomed_saved_waiting_seconds",
            "Estimate: by which jobs waited less for that.",
            found.saved_waiting_hours,
        ),
        ("waiting_gained_seconds", "Estimate: by which runs waited less.", found.gained_hours),
        ("waiting_lost_seconds", "Estimate: by which runs waited longer.", found.lost_hours),
    ):
        yield _gauge(name, f"{text} In the last seven days.", 3600 * value)


def _jobs(views: Iterable[JobView]) -> Iterator[Metric]:
    states: Count[JobState] = Count()
    gpus: Count[JobState] = Count()
    bases: Count[str] = Count()
    with_eta, warned = 0, 0
    now = time.time()
    for view in views:
        job = view.job
        states[job.state] += job.tasks
        if not job.state.ended:
            gpus[job.state] += job.tasks * job.request.gpus
            bases["none" if view.advice is None else view.advice.prediction.basis] += 1
        if job.state is JobState.RUNNING:
            with_eta += view.remaining_s(now) is not None
            warned += view.progress is not None and bool(view.progress.warnings)
    jobs = GaugeMetricFamily("schedmate_jobs", "Listed jobs by state.", labels=["state"])
    for state in JobState:
        jobs.add_metric([state.value], states[state])
    yield jobs
    asked = GaugeMetricFamily(
        "schedmate_requested_gpus", "GPUs that jobs hold or wait for.", labels=["state"]
    )
    for state in (JobState.RUNNING, JobState.PENDING):
        asked.add_metric([state.value], gpus[state])
    yield asked
    predicted = GaugeMetricFamily(
        "schedmate_predicted_jobs",
        "Jobs that wait or run, by what their prediction is based on.",
        labels=["basis"],
    )
    for basis in ("identical", "same_code", "similar", "history", "prior", "none"):
        predicted.add_metric([basis], bases[basis])
    yield predicted
    yield _gauge("running_jobs_with_eta", "Running jobs whose end can be estimated.", with_eta)
    yield _gauge("running_jobs_with_warning", "Running jobs with an early warning.", warned)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"schedmate_{name}", text, value=value)


@router.get("/metrics", response_class=Response, include_in_schema=False)
def metrics(request: Request, viewer: AViewer) -> Response:
    """In the format that the scraper prefers."""
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    registry = request.app.state.metrics.registry
    shown = registry if viewer.operator else _WithoutReasons(registry)
    return Response(encode(shown), media_type=media_type)


class _WithoutReasons(Collector):
    """For who is no operator: the scrapes around a job's end would show what it died of."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            if family.name != DIAGNOSES:
                yield family
                continue
            total = sum(one.value for one in family.samples if one.name == f"{DIAGNOSES}_total")
            summed = CounterMetricFamily(DIAGNOSES, family.documentation, labels=["reason"])
            summed.add_metric(["any"], total)
            yield summed


class CountRequests:
    """Every answer by its route's template; plain ASGI, so that streams pass through."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", _UNMATCHED)
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            if route != "/api/v1/events":  # a stream lasts as long as its reader likes
                took = time.perf_counter() - started
                self._metrics.request_seconds.labels(route).observe(took)

"""The state of a site's daemon and its store, for operators."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import schedmate
from schedmate.disk.lock import is_held
from schedmate.model import JobState, SchedMateError
from schedmate.service.records.daemon_mode import daemon_mode
from schedmate.service.records.pause import pause_of
from schedmate.service.views.effects import effects_of
from schedmate.service.views.site_answers import GpuCounts, SiteStatus
from schedmate.service.views.unordered_starts import count_unordered_starts
from schedmate.service.wiring import limits_of, open_scheduler

if TYPE_CHECKING:
    from schedmate.config import Settings
    from schedmate.model import Action, Job
    from schedmate.store import Store

_DAY_S = 86_400.0
_MB = 1e6
_ACTS = 10
_RUNS = 5000
"""Of the newest that have ended are looked through."""


def _kind(action: Action) -> str:
    """What undoes a decision is no decision of its kind."""
    return "revert" if action.reason and action.reason.code == "reverted" else action.kind


def _count_gpus(settings: Settings) -> GpuCounts | None:
    if settings.scheduler != "local":
        return None
    scheduler = open_scheduler(settings)
    try:
        gpus = [node for node in scheduler.nodes() if ":" in node.name]
        running = [job for job in scheduler.jobs() if job.state is JobState.RUNNING]
    except SchedMateError:
        return None
    if not gpus:
        return None
    held = {node for job in running for node in job.nodes}
    kinds = Counter(
        "drained"
        if gpu.condition == "drain"
        else "running"
        if gpu.name in held
        else "withheld"
        if gpu.reason
        else "free"
        for gpu in gpus
    )
    known = [gpu.busy for gpu in gpus if gpu.busy is not None]
    return GpuCounts(**kinds, busy=sum(known) / len(known) if known else None)


def site_status(settings: Settings, store: Store, now: float) -> SiteStatus:
    running = is_held(settings.daemon_lock)
    jobs: Counter[str] = Counter()
    failed: list[Job] = []
    listed = store.listed_jobs()
    for job in listed:
        jobs[job.state.value] += job.tasks
        failed += [job] if job.state.failed else []
    facts = store.job_facts([job.id for job in failed])
    found = (facts[job.id].diagnoses.get(job.restarts) for job in failed)
    unread = sum(one is not None and bool(one.unread_logs) for one in found)
    records = store.actions(since=now - _DAY_S)
    decisions = Counter(f"{_kind(one.action)} {one.state}" for one in records)
    known = {job.id: job for job in (*store.recent_jobs(limit=_RUNS), *listed)}
    is_left = limits_of(settings, act_since=0.0).scope.unordered
    ours = [job for job in known.values() if is_left(job) is None]
    return SiteStatus(
        version=schedmate.__version__,
        scheduler=settings.scheduler,
        mode=(daemon_mode(store) if running else None) or settings.mode,
        daemon=running,
        paused=pause_of(store, now),
        seen_at=store.newest_progress(),
        jobs=dict(jobs),
        gpus=_count_gpus(settings),
        unread=unread,
        decisions=dict(decisions),
        effects=effects_of(store, now),
        unordered_starts=count_unordered_starts(ours, records, since=now - _DAY_S),
        store_bytes=store.used_bytes(),
        store_rows=store.sizes(),
        retention_days=settings.retention.days,
        retention_bytes=settings.retention.megabytes * _MB,
        llm_tokens_today=store.tokens_spent(since=now - _DAY_S),
        llm_token_budget=settings.llm.token_budget,
        tokens_valid=sum(one.is_valid(now) for one in store.tokens()),
        subscribers=len(store.subscriptions()),
        notices_waiting=store.waiting_notices(),
        acts=tuple(store.acts(limit=_ACTS)),
    )

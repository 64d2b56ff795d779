"""From settings to working parts: the only place that knows every implementation."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from schedmate.config import Settings, SlurmSettings
    from schedmate.core import DecisionEngine, DecisionLimits
    from schedmate.model import Asker, ExamResult, Job, PastRun, Tier
    from schedmate.schedulers.base import Scheduler
    from schedmate.schedulers.slurm.rest.access import RestAccess
    from schedmate.store import Lease, Moved, OnTable, Store

_SETTLE_S = 60.0
"""Wrappers that look after jobs ask for them every minute at most."""
_DECIDED_BY = {
    "policy",
    "retries",
    "retries_in_all",
    "longest_wait_s",
    "settle_s",
    "hang",
    "nice_at_submission",
    "hold",
    "fairness",
    "scope",
    "drain",
    "doomed",
    "preemption",
    "sharing",
    "time_limits",
}
"""The settings that `limits_of` and `engine_of` read."""


def open_store(settings: Settings, *, of: str | None = None, holder: str | None = None) -> Store:
    """The store as the jobs of one scheduler see it, the one in use by default.

    `holder` is the daemon that decides, where a lease says which one does.
    """
    store = open_any_store(settings, of=of, holder=holder)
    if of in (None, settings.scheduler):
        try:
            pin_store(settings, store, _cluster_here(settings))
        except BaseException:
            store.close()
            raise
    return store


def open_any_store(
    settings: Settings, *, of: str | None = None, holder: str | None = None
) -> Store:
    """Whichever cluster it is of."""
    _name_gpus(settings)
    scheduler = of or settings.scheduler
    if settings.store_url:
        return _in_postgres(settings, scheduler, holder)
    from schedmate.store.sqlite import SqliteStore

    return SqliteStore(settings.database, scheduler=scheduler, shown=_shown(settings))


def pin_store(settings: Settings, store: Store, cluster: str) -> None:
    """Say whose jobs a new store holds; UnusableStore where it holds another cluster's.

    Nothing is said where the name of the cluster is not known here.
    """
    pinned = store.cluster()
    if not cluster or (pinned or "").casefold() == cluster.casefold():
        return
    if pinned is not None:
        from schedmate.model import UnusableStore

        raise UnusableStore(
            f"the store {store_name(settings)} holds the jobs of cluster {pinned}, and this is "
            f"cluster {cluster}: set SCHEDMATE_STATE_DIR to another directory, or, if it is to go "
            f"on here, `schedmate store pin {cluster}`"
        )
    store.pin(cluster)


def _cluster_here(settings: Settings) -> str:
    if settings.scheduler != "slurm":
        return ""
    if settings.slurm.cluster or settings.slurm.rest_url:
        return settings.slurm.cluster
    from schedmate.schedulers.slurm.site import configured_cluster

    return configured_cluster()


def _in_postgres(settings: Settings, scheduler: str, holder: str | None = None) -> Store:
    from schedmate.store.postgres import PostgresStore

    shown = _shown(settings)
    return PostgresStore(settings.store_url, scheduler=scheduler, shown=shown, holder=holder)


def open_lease(settings: Settings, holder: str) -> Lease:
    """Of a store in PostgreSQL: says which of several daemons decides."""
    from schedmate.store.lease import DatabaseLease
    from schedmate.store.postgres import PostgresDatabase

    return DatabaseLease(PostgresDatabase(settings.store_url), settings.scheduler, holder)


def copy_store_to_file(settings: Settings, path: Path) -> None:
    """A store in PostgreSQL, as one in a file."""
    from schedmate.store.moving import copied_to_file

    copied_to_file(settings.store_url, path)


def move_store(settings: Settings, url: str, on_table: OnTable) -> Moved:
    """A store in a file, into PostgreSQL; the file stays."""
    from schedmate.store.moving import move_to_postgres

    return move_to_postgres(settings.database, url, on_table)


def store_format(settings: Settings) -> int:
    """The newest format of the store that this version reads."""
    if settings.store_url:
        from schedmate.store.postgres_tables import POSTGRES_MIGRATIONS

        return len(POSTGRES_MIGRATIONS)
    from schedmate.store.migrations import MIGRATIONS

    return len(MIGRATIONS)


def store_name(settings: Settings) -> str:
    """For people: a path, or a URL without its password."""
    if not settings.store_url:
        return str(settings.database)
    from schedmate.store.postgres_tables import without_password

    return without_password(settings.store_url)


def open_store_for_reading(settings: Settings) -> Store:
    """For those who may not write to it."""
    _name_gpus(settings)
    if settings.store_url:
        return _in_postgres(settings, settings.scheduler)
    from schedmate.store.sqlite import ReadOnlyStore

    store = ReadOnlyStore(settings.database, scheduler=settings.scheduler, shown=_shown(settings))
    if store.cluster() is not None:
        pin_store(settings, store, _cluster_here(settings))
    return store


def _name_gpus(settings: Settings) -> None:
    """Past runs are compared by what their GPUs can do, so their names are known from here on."""
    if not settings.gpus:
        return
    from schedmate.advisor.knowledge.accelerators import GpuFigures, name_gpus

    name_gpus(
        {
            name: meant if isinstance(meant, str) else GpuFigures(**asdict(meant))
            for name, meant in settings.gpus.items()
        }
    )


def _shown(settings: Settings) -> Callable[[PastRun], PastRun] | None:
    """What this user's predictions may go by of past runs, None for an operator."""
    from schedmate.service.visibility import viewer_of

    viewer = viewer_of(settings)
    return None if viewer.operator else viewer.run_to_predict_by


def memory_is_enforced() -> bool:
    """Whether the kernel keeps runs of the local queue within the memory that they ask for."""
    from schedmate.schedulers.local.memory_bound import is_enforced

    return is_enforced()


def open_scheduler(settings: Settings) -> Scheduler:
    if settings.scheduler == "slurm":
        from schedmate.schedulers.slurm import SlurmScheduler

        slurm = settings.slurm
        return SlurmScheduler(
            rest=_rest(slurm),
            timeout_s=slurm.timeout_s,
            cluster=slurm.cluster,
            history_days=slurm.history_days,
            nice_range=settings.nice_range,
            nice_hours=settings.nice_hours,
            updates_a_minute=slurm.updates_a_minute,
        )
    if uses_shared_queue(settings):
        from schedmate.schedulers.shared.client import SharedScheduler

        return SharedScheduler(settings.queue_socket)
    from schedmate.model.priority import NICE_HOURS, NICE_RANGE
    from schedmate.schedulers.local import LocalScheduler

    by_hours = round(NICE_RANGE * min(1.0, settings.nice_hours / NICE_HOURS))
    return LocalScheduler(
        settings.state_dir / "local",
        settings.local,
        nice_range=settings.nice_range or max(1, by_hours),
    )


def uses_shared_queue(settings: Settings) -> bool:
    """Whether jobs go to the queue that root serves for all accounts of this machine."""
    if settings.scheduler != "local" or settings.local.shared is False:
        return False
    return settings.local.shared is True or settings.queue_socket.is_socket()


def queue_in_use(settings: Settings) -> str:
    """For people: whose queue jobs go to."""
    if uses_shared_queue(settings):
        return f"local, the queue of all accounts that root serves at {settings.queue_socket}"
    return "slurm" if settings.scheduler == "slurm" else "local, this account's own queue"


def serve_queue(
    settings: Settings, *, goes_on: Callable[[], bool], ready: Callable[[], None]
) -> None:
    """Serve the queue of all accounts until `goes_on` denies it."""
    from schedmate.schedulers.shared.service import serve_queue

    serve_queue(
        settings.state_dir / "shared",
        settings.queue_socket,
        settings.local,
        operators=settings.operators,
        goes_on=goes_on,
        ready=ready,
    )


def stop_local_scheduler(settings: Settings) -> None:
    """Its process, which else goes by itself after a while without jobs."""
    from schedmate.schedulers.local import LocalScheduler

    LocalScheduler(settings.state_dir / "local", settings.local).stop()


def _rest(slurm: SlurmSettings) -> RestAccess | None:
    if not slurm.rest_url:
        return None
    from schedmate.schedulers.slurm.rest.access import RestAccess

    return RestAccess(slurm.rest_url, slurm.rest_token_file)


def open_asker(settings: Settings, store: Store, *, allowed: bool = True) -> Asker | None:
    """The model to ask, or None where there is none or it may not be asked."""
    if not (allowed and settings.llm.enabled):
        return None
    from schedmate.llm import open_asker

    return open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=store)


def model_standing(settings: Settings, store: Store) -> tuple[Tier, ExamResult | None]:
    """How much the model in use is asked, and by which exam; nothing is asked to find out."""
    from schedmate.llm.opening import choose_endpoint, tier_of

    llm = settings.llm
    endpoint = choose_endpoint(llm, settings.cache_dir) if llm.enabled else None
    if endpoint is None:
        return "none", None
    return tier_of(llm, endpoint, store), store.exam_of(endpoint.identity)


def limits_of(settings: Settings, *, act_since: float) -> DecisionLimits:
    """What bounds every retry; no log, script or answer can change it."""
    from schedmate.core import (
        DecisionLimits,
        DoomedLimits,
        DrainLimits,
        FairnessLimits,
        HangLimits,
        HoldLimits,
        Scope,
    )
    from schedmate.service.lever_limits import preemption_limits, sharing_limits

    hang = settings.hang
    return DecisionLimits(
        retries=settings.retries,
        retries_in_all=settings.retries_in_all,
        longest_wait_s=settings.longest_wait_s,
        settle_s=_settle_s(settings),
        act_since=act_since,
        nice_at_submission=settings.nice_at_submission,
        hold=HoldLimits(certain=settings.hold.certain, after_failures=settings.hold.after_failures),
        fairness=FairnessLimits(**asdict(settings.fairness)),
        scope=Scope(**{name: frozenset(one) for name, one in asdict(settings.scope).items()}),
        drain=DrainLimits(**asdict(settings.drain)),
        doomed=DoomedLimits(
            stop=frozenset(settings.doomed.stop),
            after_s=60 * settings.doomed.minutes,
            idle_s=3600 * settings.doomed.idle_hours,
        ),
        preemption=preemption_limits(settings.preemption),
        sharing=sharing_limits(settings.sharing),
        hang=HangLimits(
            after_s=60 * hang.minutes,
            partitions={name: 60 * minutes for name, minutes in hang.partitions.items()},
            requeue=hang.requeue,
        ),
    )


def _settle_s(settings: Settings) -> float:
    if settings.settle_s is not None:
        return settings.settle_s
    return _SETTLE_S if settings.scheduler == "slurm" else 0.0


def objections(settings: Settings) -> Callable[[Job], str | None]:
    """Why a job is left alone by these settings, or None; in mode observe all are."""
    if settings.mode == "observe":
        return lambda _: None
    return limits_of(settings, act_since=0.0).scope.objection


def engine_of(settings: Settings, limits: DecisionLimits) -> DecisionEngine:
    """The decision engine that these settings ask for, for the daemon and for a replay."""
    from schedmate.core import DecisionEngine, TimeLimits
    from schedmate.policies import ordering

    stated = settings.time_limits
    time_limits = TimeLimits(
        lower=stated.lower,
        soft=stated.soft,
        extend_s=3600 * stated.extend_hours,
        carry_on=stated.carry_on,
    )
    return DecisionEngine(ordering(settings.policy), limits, time_limits)


def deciding_settings(settings: Settings) -> dict[str, str]:
    """What decisions depend on, for the event log: `{"policy": "ssf", "hang.minutes": "30.0"}`."""
    values = asdict(settings) | {"settle_s": _settle_s(settings)}
    return dict(_flat({name: value for name, value in values.items() if name in _DECIDED_BY}))


def _flat(values: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and not within:
            yield from _flat(value, f"{name}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            yield f"{within}{name}", "inf" if text == "Infinity" else text

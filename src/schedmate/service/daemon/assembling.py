"""Puts the daemon together from its settings."""

from __future__ import annotations

import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor
from schedmate.files.choosing import use_service
from schedmate.handler import Handler
from schedmate.schedulers.base import KeepsHistory
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.service.daemon.retention import Retention
from schedmate.service.daemon.training import train_beside
from schedmate.service.dry_run import DryRun, copy_of
from schedmate.service.late_asker import LateAsker
from schedmate.service.records.daemon_mode import keep_daemon_mode
from schedmate.service.records.pause import pause_of
from schedmate.service.wiring import (
    agent_steps,
    deciding_settings,
    engine_of,
    limits_of,
    open_scheduler,
    open_store,
    pin_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.advisor import Target
    from schedmate.advisor.advisor import Advised
    from schedmate.config import Settings
    from schedmate.schedulers.base import Scheduler
    from schedmate.service.dry_run import OnDecision
    from schedmate.store import Lease, Store


def scripts_a_look(settings: Settings) -> int:
    """A local queue reads its own files."""
    return settings.slurm.scripts_a_look if settings.scheduler == "slurm" else sys.maxsize


@contextmanager
def assemble(
    settings: Settings, on_decision: OnDecision | None = None, lease: Lease | None = None
) -> Iterator[Daemon]:
    """The live system, ready to look at the scheduler for the first time.

    With `on_decision` it is a dry run: nothing is asked of the scheduler, and what is learnt goes
    into a copy of the store.
    """
    with assemble_with_retention(settings, on_decision, lease) as (daemon, _):
        yield daemon


@contextmanager
def assemble_with_retention(
    settings: Settings, on_decision: OnDecision | None = None, lease: Lease | None = None
) -> Iterator[tuple[Daemon, Retention]]:
    """The same, with what drops old rows from its store."""
    use_service(settings.files_socket)
    scheduler = open_scheduler(settings)
    if on_decision is None:
        with _assembled(settings, scheduler, lease=lease) as parts:
            yield parts
        return
    with (
        copy_of(settings) as copied,
        _assembled(copied, scheduler, on_decision) as parts,
    ):
        yield parts


@contextmanager
def _assembled(
    settings: Settings,
    scheduler: Scheduler,
    on_decision: OnDecision | None = None,
    lease: Lease | None = None,
) -> Iterator[tuple[Daemon, Retention]]:
    store = open_store(settings, holder=None if lease is None else lease.holder)
    store.check_integrity()
    if on_decision is None:
        keep_daemon_mode(store, settings.mode, at=time.time())
    asker = LateAsker(patient(settings), store)
    limits = limits_of(settings, act_since=store.created_at())
    if on_decision is not None:  # which looks once, and shows what would follow
        limits = replace(limits, settle_s=0.0)
    engine = engine_of(settings, limits)
    daemon = Daemon(
        engine=engine,
        settings=deciding_settings(settings),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store, asker),
        actions=Actions(
            scheduler,
            store,
            settings.mode,
            an_hour=settings.actions_an_hour,
            paused=lambda: pause_of(store, time.time()) is not None,
        )
        if on_decision is None
        else DryRun(scheduler, store, settings.mode, on_decision),
        drains=settings.drain.allowed,
        gpu_memory_gb=settings.sharing.gpu_memory_gb,
        asker=asker,
        open_store=lambda: open_store(settings),
        train_beside=partial(train_beside, settings),
        advise_with_model=_with_model(settings) if settings.llm.advice else None,
        own_files=settings.state_dir,
        most_scripts=scripts_a_look(settings),
        check_cluster=partial(_check_cluster, settings, scheduler, store),
    )
    try:
        yield daemon, Retention(store, settings, engine.known)
    finally:
        daemon.close()
        store.close()


def _check_cluster(settings: Settings, scheduler: Scheduler, store: Store) -> None:
    """By what the scheduler itself answers: the name need not be in a file of this machine."""
    if isinstance(scheduler, KeepsHistory):
        pin_store(settings, store, scheduler.cluster())


def patient(settings: Settings) -> Settings:
    """Settings under which a model has time: no one waits for the daemon's questions."""
    longest = max(settings.llm.deadline_s, settings.llm.background_deadline_s)
    return replace(settings, llm=replace(settings.llm, deadline_s=longest))


def _with_model(settings: Settings) -> Callable[[Target], Advised]:
    """Advice with a model, by a store of its own: it is asked for in another thread."""

    def advise(target: Target) -> Advised:
        with closing(open_store(settings)) as store:
            asker = LateAsker(patient(settings), store)
            return Advisor(store, store, asker, steps=agent_steps(settings)).advise(target)

    return advise

"""Runs the daemon: puts it together and looks at the scheduler until it is stopped."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor
from schedmate.disk.lock import hold, sign
from schedmate.handler import Handler
from schedmate.model import SchedMateError, SchedulerUnreachable
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.service.dry_run import DryRun, copy_of
from schedmate.service.wiring import (
    LateAsker,
    agent_steps,
    deciding_settings,
    engine_of,
    limits_of,
    open_scheduler,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.advisor import Target
    from schedmate.advisor.advisor import Advised
    from schedmate.config import Settings
    from schedmate.schedulers.base import Scheduler
    from schedmate.service.dry_run import OnDecision

_log = logging.getLogger("schedmate.serve")
_LONGEST_PAUSE_S = 300.0


def poll_seconds(settings: Settings) -> float:
    """A local queue is looked at often, a site's scheduler politely."""
    return settings.slurm.poll_s if settings.scheduler == "slurm" else 0.5


def scripts_a_look(settings: Settings) -> int:
    """A local queue reads its own files."""
    return settings.slurm.scripts_a_look if settings.scheduler == "slurm" else sys.maxsize


@contextmanager
def assemble(settings: Settings, on_decision: OnDecision | None = None) -> Iterator[Daemon]:
    """The live system, ready to look at the scheduler for the first time.

    With `on_decision` it is a dry run: nothing is asked of the scheduler, and what is learnt goes
    into a copy of the store.
    """
    scheduler = open_scheduler(settings)
    if on_decision is None:
        with _assembled(settings, scheduler) as daemon:
            yield daemon
        return
    with (
        copy_of(settings.database) as copy,
        _assembled(replace(settings, state_dir=copy.parent), scheduler, on_decision) as daemon,
    ):
        yield daemon


@contextmanager
def _assembled(
    settings: Settings, scheduler: Scheduler, on_decision: OnDecision | None = None
) -> Iterator[Daemon]:
    store = open_store(settings)
    asker = LateAsker(patient(settings), store)
    limits = limits_of(settings, act_since=store.created_at())
    daemon = Daemon(
        engine=engine_of(settings, limits),
        settings=deciding_settings(settings),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store, asker),
        actions=Actions(scheduler, store, settings.mode, an_hour=settings.actions_an_hour)
        if on_decision is None
        else DryRun(scheduler, store, settings.mode, on_decision),
        drains=settings.drain.allowed,
        asker=asker,
        open_store=lambda: open_store(settings),
        advise_with_model=_with_model(settings) if settings.llm.advice else None,
        own_files=settings.state_dir,
        most_scripts=scripts_a_look(settings),
    )
    try:
        yield daemon
    finally:
        daemon.close()
        store.close()


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


def serve(settings: Settings, stop: threading.Event, on_decision: OnDecision | None = None) -> None:
    """Look at the scheduler again and again until `stop` is set."""
    with _alone(settings, on_decision), assemble(settings, on_decision) as daemon:
        _run(daemon, poll_seconds(settings), stop)
        _end(daemon)


def look_once(settings: Settings, on_decision: OnDecision | None = None) -> None:
    """Look once and do what follows from it."""
    with _alone(settings, on_decision), assemble(settings, on_decision) as daemon:
        daemon.cycle(time.time())
        daemon.finish_diagnoses(time.time())
        _end(daemon)


def _end(daemon: Daemon) -> None:
    try:
        daemon.stop(time.time())
    except SchedulerUnreachable as error:
        _log.warning("limits that were lowered stay so until the next start: %s", error)


@contextmanager
def _alone(settings: Settings, on_decision: OnDecision | None) -> Iterator[None]:
    """One daemon at a time: a second one would finish what the first is in the midst of.

    A dry run finishes nothing, and may run beside it.
    """
    if on_decision is not None:
        yield
        return
    lock = hold(settings.daemon_lock)
    if lock is None:
        raise SchedMateError(f"a daemon is serving {settings.state_dir} already")
    with lock:
        sign(lock)
        yield


def _run(daemon: Daemon, pause_s: float, stop: threading.Event) -> None:
    failures = 0
    while not stop.is_set():
        try:
            daemon.cycle(time.time())
            failures = 0
        except SchedulerUnreachable as error:
            failures += 1
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - nothing may end the daemon; the next look may succeed
            failures += 1
            _log.exception("this look failed")
        stop.wait(min(pause_s * 2 ** min(failures, 10), max(pause_s, _LONGEST_PAUSE_S)))


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that SIGTERM and SIGINT set, so that a look is finished before the end."""
    stop = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Runs the daemon: puts it together and looks at the scheduler until it is stopped."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor
from schedmate.disk.lock import hold, sign
from schedmate.files.choosing import use_service
from schedmate.handler import Handler
from schedmate.model import (
    BadInput,
    SchedMateError,
    SchedulerUnreachable,
    StoreUnavailable,
    array_of,
)
from schedmate.service.actions import Actions
from schedmate.service.daemon.daemon import Daemon
from schedmate.service.daemon.log_output import reopen_logs
from schedmate.service.daemon.signals import notify
from schedmate.service.records.event_log import STARTED
from schedmate.service.wiring import (
    LateAsker,
    agent_steps,
    deciding_settings,
    engine_of,
    limits_of,
    open_scheduler,
    open_store,
)
from schedmate.store import Keep

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from schedmate.advisor import Target
    from schedmate.advisor.advisor import Advised
    from schedmate.config import Settings
    from schedmate.model import JobId
    from schedmate.service.daemon.signals import Signals
    from schedmate.store import Store

_log = logging.getLogger("schedmate.serve")
_LONGEST_PAUSE_S = 300.0
_STORE_PAUSE_S, _REPORT_EVERY_S = 5.0, 60.0
"""How often a store that failed is tried again, and how often that is reported."""
_RETENTION_REST_S = 3600.0
_FIXED = ("scheduler", "state_dir")
"""Settings for which another daemon is needed."""


def poll_seconds(settings: Settings) -> float:
    """A local queue is looked at often, a site's scheduler politely."""
    return settings.slurm.poll_s if settings.scheduler == "slurm" else 0.5


def scripts_a_look(settings: Settings) -> int:
    """A local queue reads its own files."""
    return settings.slurm.scripts_a_look if settings.scheduler == "slurm" else sys.maxsize


@contextmanager
def assemble(settings: Settings) -> Iterator[Daemon]:
    """The live system, ready to look at the scheduler for the first time."""
    with _assembled(settings) as (daemon, _):
        yield daemon


@contextmanager
def _assembled(settings: Settings) -> Iterator[tuple[Daemon, _Retention]]:
    use_service(settings.files_socket)
    store = open_store(settings)
    scheduler = open_scheduler(settings)
    asker = LateAsker(patient(settings), store)
    limits = limits_of(settings, act_since=store.created_at())
    engine = engine_of(settings, limits)
    daemon = Daemon(
        engine=engine,
        settings=deciding_settings(settings),
        scheduler=scheduler,
        store=store,
        advisor=Advisor(store, store),
        handler=Handler(store, asker),
        actions=Actions(scheduler, store, settings.mode),
        asker=asker,
        open_store=lambda: open_store(settings),
        advise_with_model=_with_model(settings) if settings.llm.advice else None,
        own_files=settings.state_dir,
        most_scripts=scripts_a_look(settings),
    )
    try:
        yield daemon, _Retention(store, settings, engine.known)
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


def serve(
    settings: Settings, signals: Signals, reread: Callable[[], Settings] | None = None
) -> None:
    """Look at the scheduler again and again until a signal ends it.

    `reread` gives the settings as they are now. New settings, and a store that failed, begin with a
    new daemon: all that one knows is in the store.
    """
    outage = _Outage()
    with _alone(settings):
        notify("READY=1")
        while not signals.stopping:
            try:
                outage.check(settings)
                with _assembled(settings) as (daemon, retention):

                    def look(
                        now: float, daemon: Daemon = daemon, retention: _Retention = retention
                    ) -> None:
                        daemon.cycle(now)
                        retention.step(now)

                    changed = _run(look, settings, signals, reread)
                    if changed is None:
                        _end(daemon)
                        break
                    settings = changed
            except StoreUnavailable as error:
                outage.note(error)
                notify("WATCHDOG=1")
                signals.wait(_STORE_PAUSE_S)
    notify("STOPPING=1")


class _Retention:
    """A small step after each look; a rest of an hour when there was nothing left to drop."""

    def __init__(self, store: Store, settings: Settings, listed: Collection[JobId]) -> None:
        """`listed`: the jobs that the scheduler lists, at any time."""
        kept = settings.retention
        self._store, self._listed = store, listed
        self._keep = Keep(days=kept.days, bytes=kept.megabytes * 1e6)
        self._due = 0.0

    def step(self, now: float) -> None:
        if time.monotonic() < self._due:
            return
        arrays = {array for one in self._listed if (array := array_of(one)) is not None}
        spared = {*self._listed, *arrays}
        if not self._store.drop_old(self._keep, head=STARTED, listed=spared, now=now):
            self._due = time.monotonic() + _RETENTION_REST_S


class _Outage:
    """A store that cannot be written to: one line a minute, and no decision until it is back.

    Without it what was done could not be told from what was not.
    """

    def __init__(self) -> None:
        self._lasts = self._reported = False
        self._quiet_until = 0.0

    def note(self, error: StoreUnavailable) -> None:
        self._lasts, now = True, time.monotonic()
        if now >= self._quiet_until:
            _log.error("%s; nothing is decided or done until it can be written to again", error)
            self._reported, self._quiet_until = True, now + _REPORT_EVERY_S

    def check(self, settings: Settings) -> None:
        """While it lasts: StoreUnavailable until a write succeeds."""
        if not self._lasts:
            return
        try:
            with closing(open_store(settings)) as store:
                store.check_writable()
        except (BadInput, OSError) as error:
            raise StoreUnavailable(str(error)) from error
        if self._reported:
            _log.warning("the store can be written to again")
        self._lasts = self._reported = False


def look_once(settings: Settings) -> None:
    """Look once and do what follows from it."""
    with _alone(settings), assemble(settings) as daemon:
        daemon.cycle(time.time())
        daemon.finish_diagnoses(time.time())
        _end(daemon)


def _end(daemon: Daemon) -> None:
    try:
        daemon.stop(time.time())
    except SchedulerUnreachable as error:
        _log.warning("limits that were lowered stay so until the next start: %s", error)


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """One daemon at a time: a second one would finish what the first is in the midst of."""
    lock = hold(settings.daemon_lock)
    if lock is None:
        raise SchedMateError(f"a daemon is serving {settings.state_dir} already")
    with lock:
        sign(lock)
        yield


def _run(
    look: Callable[[float], None],
    settings: Settings,
    signals: Signals,
    reread: Callable[[], Settings] | None,
) -> Settings | None:
    """Returns the settings to go on with when they change, None when the daemon is to end."""
    failures, pause_s = 0, poll_seconds(settings)
    while not signals.stopping:
        try:
            look(time.time())
            failures = 0
        except StoreUnavailable:
            raise
        except SchedulerUnreachable as error:
            failures += 1
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - nothing may end the daemon; the next look may succeed
            failures += 1
            _log.exception("this look failed")
        notify("WATCHDOG=1")
        signals.wait(min(pause_s * 2 ** min(failures, 10), max(pause_s, _LONGEST_PAUSE_S)))
        if signals.rereading and not signals.stopping:
            signals.rereading = False
            reopen_logs()
            changed = reread_settings(settings, reread)
            if changed != settings:
                return changed
    return None


def reread_settings(settings: Settings, reread: Callable[[], Settings] | None) -> Settings:
    """The settings as they are now; the old ones where the new cannot be used."""
    if reread is None:
        return settings
    try:
        new = reread()
    except SchedMateError as error:
        _log.error("the settings stay as they were: %s", error)
        return settings
    for name in _FIXED:
        if getattr(new, name) != getattr(settings, name):
            _log.error("the settings stay as they were: a new %s needs a restart", name)
            return settings
    _log.info("the settings were read again: mode %s", new.mode)
    return new

"""Runs the daemon: looks at the scheduler until it is stopped."""

from __future__ import annotations

import logging
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from schedmate.model import (
    BadInput,
    LeaseLost,
    SchedMateError,
    SchedulerUnreachable,
    StoreUnavailable,
    UnusableStore,
)
from schedmate.service.daemon.alone import alone
from schedmate.service.daemon.asking import AdviceSocket
from schedmate.service.daemon.assembling import assemble, assemble_with_retention
from schedmate.service.daemon.log_output import reopen_logs
from schedmate.service.daemon.signals import notify
from schedmate.service.daemon.turns import check_turn, lease_of, take_turn, wait_for_turn
from schedmate.service.start_warnings import start_warnings
from schedmate.service.wiring import open_store, uses_shared_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.service.daemon.asking import Described
    from schedmate.service.daemon.daemon import Daemon
    from schedmate.service.daemon.retention import Retention
    from schedmate.service.daemon.signals import Signals
    from schedmate.service.dry_run import OnDecision

_log = logging.getLogger("schedmate.serve")
_LONGEST_PAUSE_S = 300.0
_STORE_PAUSE_S, _REPORT_EVERY_S = 5.0, 60.0
"""How often a store that failed is tried again, and how often that is reported."""
_FIXED = ("scheduler", "state_dir", "store_url")
"""Settings for which another daemon is needed."""


def poll_seconds(settings: Settings) -> float:
    """A local queue is looked at often, one that others use too politely."""
    if settings.scheduler == "slurm":
        return settings.slurm.poll_s
    return 3.0 if uses_shared_queue(settings) else 0.5


def serve(
    settings: Settings,
    signals: Signals,
    reread: Callable[[], Settings] | None = None,
    *,
    on_decision: OnDecision | None = None,
    describe: Described | None = None,
    looked: Callable[[float], None] = lambda _: None,
    stands_by: Callable[[], None] = lambda: None,
) -> None:
    """Look at the scheduler again and again until a signal ends it.

    `reread` gives the settings as they are now. New settings, and a store that failed, begin with a
    new daemon: all that one knows is in the store. With `on_decision` it is a dry run. With
    `describe`, which puts advice into lines, sbatch's hook is answered beside it. `looked` is
    called after each look that succeeded, `stands_by` when another daemon is found to decide.
    """
    outage = _Outage()
    with (
        alone(settings, dry=on_decision is not None),
        _asked(settings, describe),
        lease_of(settings, dry=on_decision is not None) as lease,
    ):
        notify("READY=1")
        while not signals.stopping:
            try:
                outage.check(settings)
                if not wait_for_turn(lease, signals, stands_by):
                    break
                with assemble_with_retention(settings, on_decision, lease) as (daemon, retention):

                    def look(
                        now: float, daemon: Daemon = daemon, retention: Retention = retention
                    ) -> None:
                        check_turn(lease)
                        daemon.cycle(now)
                        retention.step(now)
                        looked(now)

                    changed = _run(look, settings, signals, reread)
                    if changed is None:
                        _end(daemon)
                        break
                    settings = changed
            except LeaseLost as error:
                _log.warning("%s", error)
            except UnusableStore:
                raise  # nothing is decided by what is half there, and no waiting mends it
            except StoreUnavailable as error:
                outage.note(error)
                notify("WATCHDOG=1")
                signals.wait(_STORE_PAUSE_S)
    notify("STOPPING=1")


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
        except UnusableStore:
            raise
        except (BadInput, OSError) as error:
            raise StoreUnavailable(str(error)) from error
        if self._reported:
            _log.warning("the store can be written to again")
        self._lasts = self._reported = False


@contextmanager
def _asked(settings: Settings, describe: Described | None) -> Iterator[None]:
    if describe is None or settings.scheduler != "slurm":
        yield
        return
    asking = AdviceSocket(settings.advice_socket, lambda: open_store(settings), describe)
    asking.open()
    try:
        yield
    finally:
        asking.close()


def look_once(settings: Settings, on_decision: OnDecision | None = None) -> None:
    """Look once and do what follows from it."""
    with (
        alone(settings, dry=on_decision is not None),
        lease_of(settings, dry=on_decision is not None) as lease,
        assemble(settings, on_decision, take_turn(lease)) as daemon,
    ):
        daemon.cycle(time.time())
        daemon.finish_diagnoses(time.time())
        _end(daemon)


def _end(daemon: Daemon) -> None:
    try:
        daemon.stop(time.time())
    except SchedulerUnreachable as error:
        _log.warning("limits that were lowered stay so until the next start: %s", error)


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
    if new != settings:
        for warning in start_warnings(new):
            _log.warning("%s", warning)
    return new

"""The local scheduler's own process: start what fits, end what is over, signal what must go.

    python -c 'from schedmate.schedulers.local.daemon import main; main()' ROOT SETTINGS [LOCK]

LOCK is a file descriptor: the starting process holds the lock and hands it down, so that
two starts at once give one daemon. All it knows is in the queue file and in the folders of the
runs, so it may be killed at any moment: the next one goes on where it stopped. Clients and runs
wake it; by itself it looks now and then, and when something is due.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

from schedmate.config import LocalSettings
from schedmate.disk.detached import command_of
from schedmate.disk.lock import hold, sign
from schedmate.disk.private import append_private
from schedmate.model.errors import SchedMateError, StoreUnavailable
from schedmate.schedulers.local.attempt import RunEnd, RunFiles, RunSpec
from schedmate.schedulers.local.bounds import cores_of, machine_memory_mb, warning_of
from schedmate.schedulers.local.end_messages import EndMessages
from schedmate.schedulers.local.inventory import Inventory
from schedmate.schedulers.local.layout import Layout
from schedmate.schedulers.local.plan import Machine, Start, in_order, plan
from schedmate.schedulers.local.processes import boot_id
from schedmate.schedulers.local.queue import QueueFile
from schedmate.schedulers.local.retention import FolderRetention
from schedmate.schedulers.local.settings_watch import SettingsWatch
from schedmate.schedulers.local.terminal_job import holding_command
from schedmate.schedulers.local.turns import MEMORY_S, UserTurns
from schedmate.schedulers.local.variables import run_variables
from schedmate.schedulers.local.wakeup import WakeUp, wake

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from io import TextIOWrapper

    from schedmate.schedulers.local.entry import QueueEntry
    from schedmate.schedulers.local.layout import SavedSubmission

MODULE = "schedmate.schedulers.local.daemon"
_UNCLAIMED_S = 10.0
"""How long a runner may take to claim its run before another one is sent."""
_LEAVES_WITHIN_S = 1.0
_IDLE_S = 60.0
_AWAY_S = 600.0
"""How long a state directory may be away before the daemon gives up on it."""
_MOST_ENDED = 5000
"""Runs by which the turns of users go after a start."""
_CANNOT_RUN = 126
_UNWATCHED = "the process that watched over the job died"
_REBOOTED = "the machine was restarted while the job ran"
_NEVER = "its dependency can never be satisfied"
_log = logging.getLogger("schedmate.local")


class LocalDaemon:
    def __init__(self, layout: Layout, settings: LocalSettings) -> None:
        self._layout = layout
        self._kill_wait_s = settings.kill_wait_s
        self._queue = QueueFile(layout.queue)
        self._file = _identity(layout.queue)
        if self._file is None:  # taken away just now: nothing would tell it from being at home
            layout.check_home()
            raise StoreUnavailable(f"{layout.queue} is gone")
        self._inventory = Inventory(layout, settings, lambda: wake(layout.wake))
        self._settings_watch = SettingsWatch()
        self._cores = os.cpu_count() or 1
        self._node = socket.gethostname()
        # a shared queue's daemon is a service
        start = () if layout.spool else command_of(MODULE, layout.arguments(settings))
        self._revive = tuple(start)
        earlier = self._queue.entries(ended_since=time.time() - MEMORY_S, most_ended=_MOST_ENDED)
        self._turns = UserTurns(earlier)
        self._messages = EndMessages(self._queue, layout)
        self._messages.catch_up(earlier)
        self._runners: dict[Path, tuple[subprocess.Popen[bytes], float]] = {}
        self._due: list[float] = []
        self._retention = FolderRetention(self._queue, layout, settings)

    def cycle(self, now: float) -> None:
        """One look at everything."""
        if not self.is_at_home():
            return
        self._due.clear()
        for entry in self._queue.running():
            with _apart(entry):
                self._look_after(entry, now)
        changed = self._settings_watch.changed()
        if changed is not None:
            self._inventory.configure(changed)
        self._start_waiting(now)
        self._reap(now)
        self._retention.step(now)

    def idle(self) -> bool:
        return self._queue.idle()

    def is_at_home(self) -> bool:
        """Whether the queue is where it was: with a directory that is away, claims look missing
        and runs would be started a second time."""
        return _identity(self._layout.queue) == self._file

    def due_in(self, now: float) -> float:
        """Seconds until something has to be done though nobody calls."""
        return max(0.0, min(self._due, default=now + 3600.0) - now)

    def close(self) -> None:
        self._queue.close()

    def _start_waiting(self, now: float) -> None:
        pending = self._queue.pending()
        if not pending and not self._inventory.is_curious:
            return
        running = self._queue.running()
        ready = self._turns.order(in_order(self._ready(pending, running, now)), running, now)
        wanted = any(entry.request.gpus for entry in ready)
        held = {name for entry in running for name in entry.slots}
        self._note_due(self._inventory.refresh(now, held, wanted=wanted))
        if not ready:
            return
        machine = Machine(
            self._inventory.devices,
            self._inventory.free(now),
            self._cores,
            self._inventory.choose,
            machine_memory_mb(),
        )
        for start in plan(ready, running, machine, now):
            self._start(start, now)

    def _start(self, start: Start, now: float) -> None:
        number = start.entry.id
        if self._queue.begin(number, start.devices, now, backfilled=start.backfilled):
            with _apart(start.entry):
                self._send_runner(self._queue.entry(number), now)
                self._messages.note(number, "BEGIN")

    def _ready(
        self, pending: list[QueueEntry], running: list[QueueEntry], now: float
    ) -> list[QueueEntry]:
        """Those that wait for nothing but room; of an array as many as may run at once."""
        judged = self._queue.judge(pending, now)
        left = {entry.array_id: entry.shape.most for entry in pending if entry.shape}
        for entry in running:
            if (most := left.get(entry.array_id)) is not None:
                left[entry.array_id] = most - 1
        ready = []
        for entry in in_order(pending):
            verdict = judged.get(entry.id)
            if verdict is not None and verdict.verdict == "failed":
                self._give_up(entry, now)
            if entry.held or (verdict is not None and verdict.verdict != "met"):
                self._note_due(None if verdict is None else verdict.not_before)
            elif entry.eligible_time > now:
                self._note_due(entry.eligible_time)
            elif (most := left.get(entry.array_id)) is None:
                ready.append(entry)
            elif most > 0:
                left[entry.array_id] = most - 1
                ready.append(entry)
        return ready

    def _give_up(self, entry: QueueEntry, now: float) -> None:
        if entry.options.get("kill-on-invalid-dep") == "yes":
            self._queue.cancel(entry.job_id, now, _NEVER)

    def _note_due(self, moment: float | None) -> None:
        if moment is not None:
            self._due.append(moment)

    def _look_after(self, entry: QueueEntry, now: float) -> None:
        attempt = self._layout.attempt(entry)
        end = attempt.end()
        if end is not None:
            self._close(entry, attempt, end, now)
            return
        claim = attempt.claimed_by()
        if claim is None:
            self._resend_runner(entry, now)
        elif not claim.alive:
            self._bury(entry, attempt, now)
        else:
            self._enforce(entry, attempt, now)

    def _finish(self, entry: QueueEntry, end: RunEnd) -> None:
        self._turns.note(entry, end.end)
        self._queue.finish(entry, end)
        self._messages.note(entry.id, "END")

    def _close(self, entry: QueueEntry, attempt: RunFiles, end: RunEnd, now: float) -> None:
        if not end.refused:
            if end.code or end.signal:
                self._inventory.note_failure(entry.slots)
            self._finish(entry, end)
            return
        _log.info("job %s waits on: %s", entry.job_id, end.reason)
        self._inventory.refused(entry.slots, end.reason, now)
        sent = self._runners.pop(attempt.folder, None)
        if sent is not None:  # it has written its last word, and the next one has its folder
            with suppress(TimeoutExpired):
                sent[0].wait(_LEAVES_WITHIN_S)
        attempt.discard()
        self._queue.put_back(entry, now)

    def _bury(self, entry: QueueEntry, attempt: RunFiles, now: float) -> None:
        end = attempt.end()  # it may have written its last word just before it went
        if end is not None:
            self._close(entry, attempt, end, now)
            return
        if attempt.signal(signal.SIGKILL) == 0:  # else look again: its run is not over yet
            self._turns.note(entry, now)
            claim = attempt.claimed_by()
            rebooted = claim is not None and claim.boot != boot_id()
            self._queue.fail_node(entry, _REBOOTED if rebooted else _UNWATCHED, now)
            self._messages.note(entry.id, "END")

    def _enforce(self, entry: QueueEntry, attempt: RunFiles, now: float) -> None:
        limit = entry.request.time_limit_s
        started = entry.start_time or now
        if entry.ending is None:
            if limit is None or now - started < limit:
                self._note_due(None if limit is None else started + limit)
                self._warn(entry, attempt, now)
                return
            self._queue.end(entry.id, "TIMEOUT")
        if entry.signalled_at is None:
            self._queue.signalled(entry.id, now)
            self._note_due(now + self._kill_wait_s)
            attempt.signal(signal.SIGTERM)
        elif now - entry.signalled_at >= self._kill_wait_s:
            attempt.signal(signal.SIGKILL)
        else:
            self._note_due(entry.signalled_at + self._kill_wait_s)

    def _warn(self, entry: QueueEntry, attempt: RunFiles, now: float) -> None:
        """Before its limit, where it asked for that."""
        warning = warning_of(entry)
        if warning is None or attempt.is_warned:
            return
        wanted, at = warning
        if now < at:
            self._note_due(at)
            return
        is_script = entry.script is not None
        attempt.warn(wanted.number, first_only=wanted.first_only, is_script=is_script)

    def _send_runner(self, entry: QueueEntry, now: float) -> None:
        """The one place where a run is launched."""
        attempt = self._layout.attempt(entry)
        submission = self._layout.read_submission(entry.spool_id)
        if submission is None and not self.is_at_home():
            return
        if submission is None:
            self._refuse(entry, "what was saved of the submission cannot be read", now)
            return
        try:
            owner = submission.owner()
        except LookupError:
            self._refuse(entry, f"the account of {entry.user} is gone", now)
            return
        out, err = entry.logs
        others = [one for one in self._queue.running() if one.id != entry.id]
        spec = RunSpec(
            command=self._command(entry, submission),
            workdir=entry.workdir,
            env={**submission.env, **self._variables(entry)},
            stdout=out,
            stderr=err,
            cores=cores_of(entry, map(self._layout.attempt, others)),
            memory_mb=entry.request.memory_mb,
            append=entry.options.get("open-mode") == "append",
            owner=owner,
            locks=self._inventory.locks(entry.slots),
            gpu_check=self._inventory.check_before_start(entry.slots, now),
            wake=str(self._layout.wake),
            revive=self._revive,
        )
        self._runners[attempt.folder] = (attempt.start(spec), now)
        self._note_due(now + _UNCLAIMED_S)
        _log.info("started job %s, attempt %s", entry.job_id, entry.restarts)

    def _refuse(self, entry: QueueEntry, reason: str, now: float) -> None:
        self._finish(entry, RunEnd(code=_CANNOT_RUN, signal=0, reason=reason, end=now))

    def _command(self, entry: QueueEntry, submission: SavedSubmission) -> tuple[str, ...]:
        terminal = entry.options.get("interactive")
        if terminal is not None:
            return holding_command(terminal)
        return submission.command_of(entry.command)

    def _resend_runner(self, entry: QueueEntry, now: float) -> None:
        sent = self._runners.get(self._layout.attempt(entry).folder)
        if sent is None or now - sent[1] > _UNCLAIMED_S:
            self._send_runner(entry, now)

    def _variables(self, entry: QueueEntry) -> dict[str, str]:
        variables = run_variables(entry, self._node, self._cores)
        return variables | self._inventory.variables(entry.slots)

    def _reap(self, now: float) -> None:
        """Forget late, so that a runner that dies unclaimed is not replaced in a hot loop."""
        for folder, (process, sent) in list(self._runners.items()):
            if process.poll() is not None and now - sent > _UNCLAIMED_S:
                del self._runners[folder]
        self._messages.reap()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _apart(entry: QueueEntry) -> Iterator[None]:
    """Trouble with one job is not trouble for the others."""
    try:
        yield
    except (OSError, ValueError, LookupError, SchedMateError):
        _log.exception("this look at job %s failed; the next one may not", entry.job_id)


def serve(layout: Layout, settings: LocalSettings, lock: TextIOWrapper | None) -> None:
    """Run until there has been nothing to do for a while."""
    while lock is not None:
        with lock:
            sign(lock)
            _serve_until_idle(layout, settings)
        if not layout.queue.exists():
            return
        # a job may have been queued while we still held the lock and looked alive
        queue = QueueFile(layout.queue)
        idle = queue.idle()
        queue.close()
        lock = None if idle else hold(layout.lock)


def _serve_until_idle(layout: Layout, settings: LocalSettings) -> None:
    wakeup = WakeUp(layout.wake)
    try:
        _cycle_until_idle(LocalDaemon(layout, settings), wakeup, settings.poll_s)
    finally:
        wakeup.close()


def _cycle_until_idle(daemon: LocalDaemon, wakeup: WakeUp, poll_s: float) -> None:
    busy_at = home_at = time.monotonic()
    while time.monotonic() - busy_at < _IDLE_S:
        try:
            daemon.cycle(time.time())
            if not daemon.idle():
                busy_at = time.monotonic()
        except (OSError, SchedMateError):
            _log.exception("this look failed; the next one may not")
        if daemon.is_at_home():
            home_at = time.monotonic()
        elif time.monotonic() - home_at > _AWAY_S:
            _log.error("the queue has not been at its place for a while: giving up")
            return
        wakeup.wait(min(poll_s, daemon.due_in(time.time())))


def main() -> None:
    root, settings = Path(sys.argv[1]), LocalSettings(**json.loads(sys.argv[2]))
    layout = Layout(root)
    lock = os.fdopen(int(sys.argv[3]), "a") if sys.argv[3:] else hold(layout.lock)
    with append_private(layout.log) as log:  # a run that revives it has a log of its own
        os.dup2(log.fileno(), 2)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(layout, settings, lock)


if __name__ == "__main__":
    main()

"""The local scheduler's own process: start what fits, end what is over, signal what must go.

    python -m schedmate.schedulers.local.daemon ROOT SETTINGS LOCK

LOCK is a file descriptor: the starting process holds the lock and hands it down, so that
two starts at once give one daemon. All it knows is in the queue file and in the folders of the
runs, so it may be killed at any moment: the next one goes on where it stopped.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.config import LocalSettings
from schedmate.disk.lock import hold, sign
from schedmate.model import SchedMateError
from schedmate.schedulers.local.attempt import RunEnd, RunFiles, RunSpec
from schedmate.schedulers.local.gpus import count_gpus, count_slots
from schedmate.schedulers.local.layout import Layout
from schedmate.schedulers.local.queue import QueueEntry, QueueFile

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from io import TextIOWrapper

_UNCLAIMED_S = 10.0
"""How long a shepherd may take to claim its run before another one is sent."""
_IDLE_S = 60.0
_CANNOT_RUN = 126
_log = logging.getLogger("schedmate.local")


class LocalDaemon:
    def __init__(self, layout: Layout, settings: LocalSettings) -> None:
        self._layout = layout
        self._kill_wait_s = settings.kill_wait_s
        self._queue = QueueFile(layout.queue)
        self._slots = count_slots(settings.slots)
        self._real_gpus = count_gpus() > 0
        self._shepherds: dict[Path, tuple[subprocess.Popen[bytes], float]] = {}

    def cycle(self, now: float) -> None:
        """One look at everything."""
        for entry in self._queue.running():
            with _apart(entry):
                self._look_after(entry, now)
        self._start_waiting(now)
        self._reap(now)

    def idle(self) -> bool:
        return self._queue.idle()

    def _start_waiting(self, now: float) -> None:
        """In order and without overtaking: a wide job at the head is not starved by narrow ones."""
        taken = {slot for entry in self._queue.running() for slot in entry.slots}
        free = [slot for slot in range(self._slots) if slot not in taken]
        for entry in self._queue.waiting(now):
            if entry.width > self._slots:
                continue  # there were more slots when it was submitted
            if entry.width > len(free):
                break
            slots, free = free[: entry.width], free[entry.width :]
            if self._queue.begin(entry.id, slots, now):
                with _apart(entry):
                    self._send_shepherd(self._queue.entry(entry.id), now)

    def _look_after(self, entry: QueueEntry, now: float) -> None:
        attempt = self._layout.attempt(entry)
        end = attempt.end()
        if end is not None:
            self._queue.finish(entry, end)
            return
        claim = attempt.claimed_by()
        if claim is None:
            self._resend_shepherd(entry, now)
        elif not claim.alive:
            self._bury(entry, attempt, now)
        else:
            self._enforce(entry, attempt, now)

    def _bury(self, entry: QueueEntry, attempt: RunFiles, now: float) -> None:
        end = attempt.end()  # it may have written its last word just before it went
        if end is not None:
            self._queue.finish(entry, end)
            return
        if attempt.signal(signal.SIGKILL) == 0:  # else look again: its run is not over yet
            self._queue.fail_node(entry, "the process that watched over the job died", now)

    def _enforce(self, entry: QueueEntry, attempt: RunFiles, now: float) -> None:
        limit = entry.request.time_limit_s
        started = entry.start_time or now
        if entry.ending is None:
            if limit is None or now - started < limit:
                return
            self._queue.end(entry.id, "TIMEOUT")
        if entry.signalled_at is None:
            self._queue.signalled(entry.id, now)
            attempt.signal(signal.SIGTERM)
        elif now - entry.signalled_at >= self._kill_wait_s:
            attempt.signal(signal.SIGKILL)

    def _send_shepherd(self, entry: QueueEntry, now: float) -> None:
        attempt = self._layout.attempt(entry)
        submission = self._layout.read_submission(entry.id)
        if submission is None:
            reason = "what was saved of the submission cannot be read"
            self._queue.finish(entry, RunEnd(code=_CANNOT_RUN, signal=0, reason=reason, end=now))
            return
        env = {**submission.env, **self._variables(entry)}
        out, err = entry.logs
        spec = RunSpec(
            command=submission.command, workdir=entry.workdir, env=env, stdout=out, stderr=err
        )
        self._shepherds[attempt.folder] = (attempt.start(spec), now)
        _log.info("started job %s, attempt %s", entry.id, entry.restarts)

    def _resend_shepherd(self, entry: QueueEntry, now: float) -> None:
        sent = self._shepherds.get(self._layout.attempt(entry).folder)
        if sent is None or now - sent[1] > _UNCLAIMED_S:
            self._send_shepherd(entry, now)

    def _variables(self, entry: QueueEntry) -> dict[str, str]:
        variables = {
            "SCHEDMATE_JOB_ID": str(entry.id),
            "SCHEDMATE_JOB_NAME": entry.name,
            "SCHEDMATE_RESTART_COUNT": str(entry.restarts),
            "SCHEDMATE_SLOTS": ",".join(map(str, entry.slots)),
        }
        if self._real_gpus:
            gpus = entry.slots[: entry.request.gpus]
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        return variables

    def _reap(self, now: float) -> None:
        """Forget late, so that a shepherd that dies unclaimed is not replaced in a hot loop."""
        for folder, (process, sent) in list(self._shepherds.items()):
            if process.poll() is not None and now - sent > _UNCLAIMED_S:
                del self._shepherds[folder]


@contextmanager
def _apart(entry: QueueEntry) -> Iterator[None]:
    """Trouble with one job is not trouble for the others."""
    try:
        yield
    except (OSError, ValueError, LookupError, SchedMateError):
        _log.exception("this look at job %s failed; the next one may not", entry.id)


def serve(layout: Layout, settings: LocalSettings, lock: TextIOWrapper | None) -> None:
    """Run until there has been nothing to do for a while."""
    while lock is not None:
        with lock:
            sign(lock)
            _serve_until_idle(layout, settings)
        # a job may have been queued while we still held the lock and looked alive
        queue = QueueFile(layout.queue)
        idle = queue.idle()
        queue.close()
        lock = None if idle else hold(layout.lock)


def _serve_until_idle(layout: Layout, settings: LocalSettings) -> None:
    daemon = LocalDaemon(layout, settings)
    busy_at = time.monotonic()
    while time.monotonic() - busy_at < _IDLE_S:
        try:
            daemon.cycle(time.time())
            if not daemon.idle():
                busy_at = time.monotonic()
        except (OSError, SchedMateError):
            _log.exception("this look failed; the next one may not")
        time.sleep(settings.poll_s)


def main() -> None:
    root, settings = Path(sys.argv[1]), LocalSettings(**json.loads(sys.argv[2]))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    serve(Layout(root), settings, os.fdopen(int(sys.argv[3]), "a"))


if __name__ == "__main__":
    main()

"""Keeps the demo's daemon running while the demo lives, and leaves nothing behind when it is gone.

    python -m schedmate.demo.keeper --port PORT [--keep] [--stop-model]

Its standard input is a pipe that only the demo holds: it ends with the demo, however that ends,
also by kill -9. What it has to know is in the environment.
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from schedmate.demo.alone import alone_settings
from schedmate.disk.lock import is_held, lock_holder
from schedmate.llm.embedded.process import stop
from schedmate.model import SchedMateError
from schedmate.service.wiring import open_scheduler, stop_local_scheduler

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from schedmate.config import Settings
    from schedmate.demo.stage import Stage

_LOOK_S = 0.5
_ENDS_WITHIN_S = 120.0
"""What is told to end does so in a second or two; a busy machine takes its time."""
_STARTS = "daemon-starts"


class Keeper:
    """The demo's hold on it: while this is open, there is a daemon."""

    def __init__(self, stage: Stage, port: int, *, keep: bool, stop_model: bool) -> None:
        self._stage = stage
        self._stop_model = stop_model
        self._keep = keep
        flags = {"--keep": keep, "--stop-model": stop_model}
        options = [f"--port={port}", *(flag for flag, is_set in flags.items() if is_set)]
        told, self._hold = os.pipe()
        with (stage.root / "serve.log").open("ab") as log, os.fdopen(told, "rb") as told_end:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "schedmate.demo.keeper", *options],
                stdin=told_end,
                stdout=log,
                stderr=log,
                env=stage.environment,
                start_new_session=True,  # Ctrl-C in the terminal is not meant for it
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until all is gone; who does not want to wait may go, it goes on by itself."""
        os.close(self._hold)
        if self._process.wait() != 0:
            leave_nothing(self._stage.settings, keep=self._keep, stop_model=self._stop_model)

    @property
    def daemon_starts(self) -> int:
        return daemon_starts(self._stage.root)


def daemon_starts(root: Path) -> int:
    with suppress(OSError):
        return (root / _STARTS).stat().st_size
    return 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--stop-model", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings = alone_settings()
    try:
        _serve_until_the_demo_ends(settings, options.port)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        leave_nothing(settings, keep=options.keep, stop_model=options.stop_model)


def _serve_until_the_demo_ends(settings: Settings, port: int) -> None:
    daemon: subprocess.Popen[bytes] | None = None
    while not select.select([sys.stdin], [], [], _LOOK_S if daemon is not None else 0)[0]:
        if daemon is None or daemon.poll() is not None:
            with (settings.state_dir / _STARTS).open("ab") as starts:
                starts.write(b".")
            daemon = subprocess.Popen(
                [sys.executable, "-P", "-m", "schedmate.demo.alone", "serve", f"--port={port}"],
                stdin=subprocess.DEVNULL,
            )
    if daemon is not None:
        daemon.terminate()
        with suppress(subprocess.TimeoutExpired):
            daemon.wait(_ENDS_WITHIN_S)
        daemon.kill()
        daemon.wait()


def leave_nothing(settings: Settings, *, keep: bool, stop_model: bool) -> None:
    """End the jobs, their scheduler and the model's server, and remove what was written."""
    with suppress(SchedMateError):
        _end_daemon(settings)
        _end_jobs(settings)
        stop_local_scheduler(settings)
    if stop_model:
        stop(settings.cache_dir)
    if not keep:
        _wait(lambda: _removed(settings.state_dir))


def _end_daemon(settings: Settings) -> None:
    """One that is still there is nobody's child: its keeper was killed."""
    pid = lock_holder(settings.daemon_lock)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        _wait(lambda: not is_held(settings.daemon_lock))


def _removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _end_jobs(settings: Settings) -> None:
    scheduler = open_scheduler(settings)

    def all_ended() -> bool:
        running = [job for job in scheduler.jobs() if not job.state.ended]
        for job in running:
            scheduler.cancel(job.id)
        return not running

    _wait(all_ended)


def _wait(done: Callable[[], bool], within_s: float = _ENDS_WITHIN_S) -> None:
    until = time.monotonic() + within_s
    while not done() and time.monotonic() < until:
        time.sleep(0.1)


if __name__ == "__main__":
    main()

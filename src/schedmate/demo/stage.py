"""A place of the demo's own: nothing of the user's is touched but the model's cache."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import schedmate
from schedmate.config import HangSettings, LocalSettings, Settings
from schedmate.llm.embedded.files import ModelFiles
from schedmate.llm.embedded.process import stop
from schedmate.llm.embedded.running import RunFiles
from schedmate.model import NotFound
from schedmate.model.extras import is_there, needs
from schedmate.service.wiring import open_scheduler, stop_local_scheduler

_SLOTS = 2
_HANG_MINUTES = 0.05
"""A site waits for half an hour; a demo has no time for that."""
_ENDS_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Stage:
    """`root` keeps the queue, the history and the logs; it stays for a later look."""

    root: Path
    settings: Settings

    @property
    def workdir(self) -> Path:
        return self.root / "work"

    @property
    def slots(self) -> int:
        return _SLOTS


def set_stage(settings: Settings) -> Stage:
    if not is_there("tqdm"):
        raise NotFound(needs("the demo's training jobs need", "tqdm"))
    root = Path(tempfile.mkdtemp(prefix="schedmate-demo-"))
    local = LocalSettings(slots=_SLOTS, kill_wait_s=2.0)
    own = replace(
        settings,
        scheduler="local",
        mode="act",
        state_dir=root,
        local=local,
        hang=HangSettings(minutes=_HANG_MINUTES, requeue=True),
    )
    shutil.copytree(_examples(), root / "work", ignore=shutil.ignore_patterns("__pycache__"))
    return Stage(root, own)


def page_port() -> int:
    """A free port for the demo's page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_page(
    port: int, look_after_daemon: Callable[[], object], *, within_s: float = 30.0
) -> None:
    """Until the page can be opened: it is announced when a click on its address shows it."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        look_after_daemon()
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)


def _examples() -> Path:
    package = Path(schedmate.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if folder.is_dir():
            return folder
    raise NotFound("the example jobs are missing from this installation; install it again")


class Helper:
    """A verb of ours as a process that goes when the demo goes, and is started again if it dies."""

    def __init__(self, stage: Stage, log: str, *words: str, again: bool, nice: int = 0) -> None:
        self._nice = nice
        self._command = [sys.executable, "-P", "-m", "schedmate", *words]
        self._log = stage.root / log
        self._again = again
        self._env = {
            **os.environ,
            "SCHEDMATE_STATE_DIR": str(stage.root),
            "SCHEDMATE_SCHEDULER": "local",
            "SCHEDMATE_MODE": "act",
            "SCHEDMATE_LOCAL__SLOTS": str(stage.slots),
            "SCHEDMATE_LOCAL__KILL_WAIT_S": str(stage.settings.local.kill_wait_s),
            "SCHEDMATE_HANG__MINUTES": str(stage.settings.hang.minutes),
            "SCHEDMATE_HANG__REQUEUE": str(stage.settings.hang.requeue),
            "SCHEDMATE_LLM__ENABLED": str(stage.settings.llm.enabled),
            # two jobs on two cores leave the model little, and it should leave them much
            "SCHEDMATE_LLM__DEADLINE_S": "170",
            "SCHEDMATE_LLM__THREADS": "1",
        }
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def look(self) -> int | None:
        """Return the exit code of one that ended for good; a daemon that died is started again."""
        code = None if self._process is None else self._process.poll()
        if code is not None and self._again:
            self.start()
            return None
        return code

    def last_words(self) -> str:
        lines = self._log.read_text("utf-8", "replace").splitlines()
        return lines[-1].strip() if lines else ""

    def start(self) -> Self:
        self.starts += 1
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._env,
                preexec_fn=lambda: os.nice(self._nice),  # noqa: PLW1509 - no threads here
                start_new_session=True,
            )
        return self


@contextmanager
def ending_cleanly(stage: Stage) -> Iterator[None]:
    """Leave nothing running: a closed terminal ends the demo as Ctrl-C does, and its jobs, their
    scheduler and a model's server that was not there before end with it."""
    run = RunFiles.of(stage.settings.cache_dir)
    ran_before = run.is_alive()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _end_jobs(stage)
        if not ran_before:
            stop(stage.settings.cache_dir)


def _end_jobs(stage: Stage) -> None:
    scheduler = open_scheduler(stage.settings)
    for job in scheduler.jobs():
        if not job.state.ended:
            scheduler.cancel(job.id)
    until = time.monotonic() + stage.settings.local.kill_wait_s + _ENDS_WITHIN_S
    while time.monotonic() < until and not all(job.state.ended for job in scheduler.jobs()):
        time.sleep(0.1)
    stop_local_scheduler(stage.settings)


class ModelFetch:
    """Fetches the embedded model beside the jobs. Nothing waits for it; what has arrived stays."""

    def __init__(self, stage: Stage) -> None:
        llm = stage.settings.llm
        self._files = ModelFiles(stage.settings.cache_dir)
        self._wanted = llm.enabled and llm.base_url is None
        self._process = (
            Helper(stage, "model-install.log", "model", "install", again=False, nice=10)
            if self._wanted and not self._files.installed()
            else None
        )

    def begin(self) -> None:
        if self._process is not None:
            self._process.start()

    def close(self) -> None:
        if self._process is not None:
            self._process.close()

    def state(self) -> str:
        """One line on how far it is."""
        if not self._wanted:
            return "no embedded model is asked"
        if self._files.installed():
            return "the embedded model is there and is asked about what the rules leave open"
        code = None if self._process is None else self._process.look()
        if self._process is not None and code:
            return f"going on without a model: {self._process.last_words()}"
        done = self._files.partial.stat().st_size if self._files.partial.exists() else 0
        total = self._files.manifest.size
        return f"fetching the embedded model: {done / 1e6:.0f} of {total / 1e6:.0f} MB"

"""Start the model's server when it is needed, find it, stop it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import schedmate
from schedmate.disk.lock import locked
from schedmate.llm.deadline import Deadline
from schedmate.llm.embedded.files import ModelFiles
from schedmate.llm.embedded.running import RunFiles
from schedmate.llm.endpoint import Address
from schedmate.llm.messages import ConnectionLost
from schedmate.model import ModelTooSlow, ModelUnavailable
from schedmate.model.extras import is_there, needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.config import LlmSettings
    from schedmate.llm.embedded.running import ServerState

_LOOK_AGAIN_S = 0.05
_STOP_S = 5.0
_SHOWN_LOG = 300


NEEDS_OPENMP = "the embedded model needs the OpenMP runtime: sudo apt-get install libgomp1"


def openmp_is_there() -> bool:
    """Whether the library is there that xllamacpp is linked with and that no wheel brings."""
    try:
        ctypes.CDLL("libgomp.so.1")
    except OSError:
        return False
    return True


class EmbeddedEndpoint:
    """The embedded model; the first question starts its server."""

    is_remote = False

    def __init__(self, files: ModelFiles, settings: LlmSettings) -> None:
        self._files = files
        self._settings = settings
        self._run = RunFiles.of(files.cache_dir)
        self.model = files.manifest.name
        self.identity = f"{self.model} {files.manifest.sha256}"

    @contextmanager
    def open(self, deadline: Deadline) -> Iterator[Address]:
        try:
            self._run.prepare()
            with locked(self._run.start_lock, deadline.left):
                state = self._ready(deadline)
                self._run.touch()
        except OSError as error:
            raise ModelUnavailable(
                f"the embedded model's server cannot be started: {error}"
            ) from error
        try:
            yield Address(f"http://127.0.0.1:{state.port}/v1", state.key, starts_anew=True)
        except ConnectionLost:
            self._wait_while_dying(state)
            raise
        finally:
            with suppress(OSError):
                self._run.touch()

    def _wait_while_dying(self, state: ServerState) -> None:
        """A killed server takes calls until the kernel has taken its memory back."""
        end = time.monotonic() + _STOP_S
        while self._run.ready_state() == state and time.monotonic() < end:
            time.sleep(_LOOK_AGAIN_S)

    def _ready(self, deadline: Deadline) -> ServerState:
        started = False
        while True:
            state = self._run.ready_state()
            if state is not None:
                return state
            if not self._run.is_alive():
                if started:
                    raise ModelUnavailable(
                        f"the embedded model's server died: {self._last_words()}"
                    )
                self._run.forget_state()
                self._start(deadline)
                started = True
            time.sleep(min(_LOOK_AGAIN_S, deadline.left()))

    def _start(self, deadline: Deadline) -> None:
        """Returns when the server is a process of its own, holding its lock."""
        if not is_there("xllamacpp"):
            raise ModelUnavailable(needs("the embedded model needs", "xllamacpp"))
        if not openmp_is_there():
            raise ModelUnavailable(NEEDS_OPENMP)
        home = str(Path(schedmate.__file__).parent.parent)
        path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
        with self._run.log.open("wb") as log:
            try:
                subprocess.run(
                    self._command(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd="/",
                    env={**os.environ, "PYTHONPATH": path},
                    start_new_session=True,
                    timeout=deadline.left(),
                    check=True,
                )
            except subprocess.TimeoutExpired as error:
                raise deadline.passed() from error
            except subprocess.CalledProcessError as error:
                raise ModelUnavailable(
                    f"the embedded model's server cannot be started: {self._last_words()}"
                ) from error

    def _command(self) -> list[str]:
        options = {
            "--run-dir": self._run.folder.absolute(),
            "--model": self._files.model.absolute(),
            "--threads": self._settings.threads,
            "--idle-s": self._settings.idle_s,
        }
        words = [str(word) for pair in options.items() for word in pair]
        return [sys.executable, "-P", "-m", "schedmate.llm.embedded.server", *words]

    def _last_words(self) -> str:
        try:
            lines = self._run.log.read_text(errors="replace").split("\n")
        except OSError:
            lines = []
        printed = [line.strip() for line in lines if line.strip()]
        return (
            f"{printed[-1][:_SHOWN_LOG] if printed else 'it printed nothing'} (see {self._run.log})"
        )


def stop(cache_dir: Path) -> bool:
    """Stop the server; returns whether one ran."""
    run = RunFiles.of(cache_dir)
    if not run.is_alive():
        return False
    state = run.state()
    run.forget_state()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if state is not None and run.is_alive():
            with suppress(ProcessLookupError):
                os.kill(state.pid, number)
        if _gone(run):
            break
    return True


def _gone(run: RunFiles) -> bool:
    deadline = Deadline(_STOP_S)
    with suppress(ModelTooSlow):
        while run.is_alive():
            time.sleep(min(_LOOK_AGAIN_S, deadline.left()))
    return not run.is_alive()

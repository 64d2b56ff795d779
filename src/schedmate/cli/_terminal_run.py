"""The command of an interactive job, run at this terminal as soon as the queue has room for it."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.cli._common import say
from schedmate.model import SchedulerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from schedmate.model import Job

_PR_SET_PDEATHSIG = 1
_POLL_S, _QUIET_S = 0.5, 1.0
_PATIENCE_S = 10.0
_MOST_READ = 1 << 20
_SIGNALLED = 128
_CANNOT_RUN, _NOT_FOUND = 126, 127


class Door:
    """Where the job reports that its turn has come."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="schedmate-run-")
        self.place = str(Path(self._folder.name) / "s")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.place)
        self._socket.listen(1)

    def wait(self, look: Callable[[], Job | None]) -> tuple[socket.socket, dict[str, str]]:
        """Until the job runs; SchedulerError where it ends before that."""
        begun, told = time.monotonic(), ""
        while not select.select([self._socket], [], [], _POLL_S)[0]:
            job = look()
            if job is None or job.state.ended:
                state = "gone" if job is None else f"{job.state} {job.reason}".strip()
                raise SchedulerError(f"the job ended before its command began: {state}")
            words = f"job {job.id} waits in the queue" + (f" ({job.reason})" * bool(job.reason))
            if time.monotonic() - begun > _QUIET_S and words != told:
                say(f"{words}; Ctrl-C cancels it")
                told = words
        holder, _ = self._socket.accept()
        said = b""
        while not said.endswith(b"\n") and (part := holder.recv(_MOST_READ)):
            said += part
        return holder, dict(json.loads(said))

    def close(self) -> None:
        self._socket.close()
        self._folder.cleanup()


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    number: int = 0
    """The signal that ended it."""

    @property
    def as_exit_code(self) -> int:
        return _SIGNALLED + self.number if self.number else self.code


def run_at_terminal(
    command: Sequence[str], workdir: str, env: Mapping[str, str], holder: socket.socket
) -> Ended:
    """Run it in the foreground and tell the job how it ended."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (2, 3)}  # it gets them
    try:
        ended = _run(command, workdir, env, holder)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    with suppress(OSError):
        holder.sendall(json.dumps([ended.code, ended.number]).encode())
        holder.shutdown(socket.SHUT_WR)
    return ended


def _run(
    command: Sequence[str], workdir: str, env: Mapping[str, str], holder: socket.socket
) -> Ended:
    try:
        child = subprocess.Popen(
            command,
            cwd=workdir,
            env=dict(env),
            preexec_fn=_begin_as_usual,  # noqa: PLW1509 - this process has no threads
        )
    except OSError as error:
        say(f"{command[0]}: {(error.strerror or str(error)).lower()}")
        return Ended(_NOT_FOUND if isinstance(error, FileNotFoundError) else _CANNOT_RUN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: child.send_signal(number))
    status = _wait(child, holder)
    return Ended(0, -status) if status < 0 else Ended(status)


def _begin_as_usual() -> None:
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)


def _wait(child: subprocess.Popen[bytes], holder: socket.socket) -> int:
    """Where the job is ended from elsewhere, its command ends, too."""
    exit_file = os.pidfd_open(child.pid)
    try:
        ready = select.select([exit_file, holder.fileno()], [], [])[0]
        if exit_file not in ready:
            say("the job was ended")
            child.send_signal(signal.SIGHUP)
            if not select.select([exit_file], [], [], _PATIENCE_S)[0]:
                child.kill()
        return child.wait()
    finally:
        os.close(exit_file)

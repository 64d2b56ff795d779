"""Whether somebody else has come to a run's GPUs since they were chosen.

Asked by the runner, right before the run begins and with the GPUs locked: standard library only,
see `runner.py`. A tool that fails or is late holds no run up.
"""

from __future__ import annotations

import os
import select
import signal
import time

_BOUND_S = 2.0
_MOST_BYTES = 1 << 20
_COLUMNS = 3


def find_user(command: list[str], uuids: list[str], least_mb: int) -> str:
    """Who computes on one of these GPUs, in words; empty where nobody is known to.

    The command prints a line a process: the GPU's UUID, the process, its memory in MB.
    """
    for line in _output(command).splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) != _COLUMNS or parts[0] not in uuids or not parts[1].isdecimal():
            continue
        idles = parts[2].isdecimal() and int(parts[2]) < least_mb
        if not idles and os.path.exists(f"/proc/{parts[1]}"):
            return f"{parts[0]} is used by pid {parts[1]}"
    return ""


def _output(command: list[str]) -> str:
    """What it prints within the bound; empty where it fails."""
    reading, writing = os.pipe()
    try:
        child = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, writing, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setpgroup=0,
        )
    except OSError:
        os.close(reading)
        os.close(writing)
        return ""
    os.close(writing)
    printed, is_whole = _read_in_time(reading)
    os.close(reading)
    if not is_whole:
        os.killpg(child, signal.SIGKILL)  # one that hangs in the kernel is left there
        os.waitpid(child, os.WNOHANG)
        return ""
    return "" if os.waitpid(child, 0)[1] else printed.decode("ascii", "replace")


def _read_in_time(pipe: int) -> tuple[bytes, bool]:
    """With whether that is all."""
    printed, until = b"", time.monotonic() + _BOUND_S
    while len(printed) < _MOST_BYTES and (left := until - time.monotonic()) > 0:
        if not select.select((pipe,), (), (), left)[0]:
            break
        piece = os.read(pipe, 1 << 16)
        if not piece:
            return printed, True
        printed += piece
    return printed, False

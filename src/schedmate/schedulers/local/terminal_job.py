"""A job whose command runs at a terminal: it waits in the queue, holds what it was given, and ends
with the command.

    python -c 'from schedmate.schedulers.local.terminal_job import main; main()' SOCKET

is what the queue runs of it. The verb that submitted it listens at SOCKET: it gets the variables of
the run and starts the command itself, where keyboard, screen and signals are as always. It answers
with how the command ended. Where the verb goes without an answer, what is left of the run is ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress

from schedmate.schedulers.local.processes import process_times

_MODULE = "schedmate.schedulers.local.terminal_job"
_MARK = "SCHEDMATE_ATTEMPT"
_PATIENCE_S = 5.0
_GONE = 129
"""As a shell reports the end by SIGHUP."""
_MOST_READ = 65_536


def holding_command(place: str) -> tuple[str, ...]:
    """What the queue runs while the command runs at the terminal that listens at `place`."""
    text = f"from {_MODULE} import main; main()"
    return (sys.executable, "-P", "-c", text, place)


def main() -> None:
    sys.exit(hold(sys.argv[1]))


def hold(place: str) -> int:
    """Until the command at the terminal has ended: its exit code."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as verb:
        try:
            verb.connect(place)
        except OSError:
            sys.stderr.write("schedmate: the terminal that this job was for is gone\n")
            return _GONE
        verb.sendall(json.dumps(dict(os.environ)).encode() + b"\n")
        answer = _read(verb)
    _end_leftovers()
    if answer is None:
        return _GONE
    code, number = answer
    if number:  # end as it did
        with suppress(OSError):  # some cannot be caught
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(_PATIENCE_S)
    return code


def _read(verb: socket.socket) -> tuple[int, int] | None:
    """Exit code and signal; None where the verb went without a word."""
    said = b""
    with suppress(OSError):
        while part := verb.recv(_MOST_READ):
            said += part
    try:
        code, number = json.loads(said)
    except ValueError:
        return None
    return int(code), int(number)


def _end_leftovers() -> None:
    """What of the run is left at the terminal or in its background ends with it."""
    mark = f"{_MARK}={os.environ.get(_MARK, '')}"
    begun = time.monotonic()
    while (left := _others(mark)) and time.monotonic() - begun < 2 * _PATIENCE_S:
        late = time.monotonic() - begun > _PATIENCE_S
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL if late else signal.SIGHUP)
        time.sleep(0.1)


def _others(mark: str) -> list[int]:
    known = (os.getpid(), os.getppid())
    return [
        one.pid for one in process_times(f"{_MARK}=") if one.mark == mark and one.pid not in known
    ]


if __name__ == "__main__":
    main()

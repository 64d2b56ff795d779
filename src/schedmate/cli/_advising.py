"""Advice after a job was queued: a process of its own, which a terminal may wait for a moment."""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.config import Settings

_MODULE = "schedmate.cli._advising"
_NICE = 10
_LETS_START_S = 0.3
_MOST_READ = 65_536


def start_advising(settings: Settings, job_id: str, wait_s: float) -> list[str]:
    """Start it, and return what it has to say about this job within so many seconds."""
    from schedmate.disk.detached import DetachFailed, start_detached
    from schedmate.disk.lock import hold, is_held
    from schedmate.disk.private import append_private

    local = settings.state_dir / "local"
    if not local.is_dir():
        return []  # the queue is another's
    if not wait_s and (is_held(settings.daemon_lock) or is_held(local / "advising.lock")):
        return []  # what is at work there sees this job, too
    about_to_look = None if wait_s else hold(local / "advising.next")
    if not wait_s and about_to_look is None:
        return []  # as above
    read, write = os.pipe()
    kept = (write,) if about_to_look is None else (write, about_to_look.fileno())
    try:
        with append_private(local / "advising.log") as log:
            start_detached(_MODULE, [job_id, *map(str, kept)], log=log, pass_fds=kept, cwd=None)
    except (OSError, DetachFailed):
        return []  # the next one takes it on
    finally:
        os.close(write)
        if about_to_look is not None:
            about_to_look.close()
    return _read_lines(read, wait_s)


def _read_lines(pipe: int, wait_s: float) -> list[str]:
    deadline = time.monotonic() + wait_s
    said = b""
    while (left := deadline - time.monotonic()) > 0 and select.select([pipe], [], [], left)[0]:
        part = os.read(pipe, _MOST_READ)
        if not part:
            break
        said += part
    os.close(pipe)
    return said.decode("utf-8", "replace").splitlines()


def main() -> None:
    """`JOB PIPE [LOCK]`: what it says about this job goes into the pipe, which is closed then.

    With the lock nobody waits: it lets the job start and others come first, and lets go of the
    lock before it looks.
    """
    job_id, pipe = sys.argv[1], int(sys.argv[2])
    os.set_inheritable(pipe, False)
    os.nice(_NICE)
    if sys.argv[3:]:
        time.sleep(_LETS_START_S)
    from schedmate import config
    from schedmate.cli._common import duration
    from schedmate.model import Advice
    from schedmate.service.daemon.advising import advise_queued
    from schedmate.service.views.sentences import advice_lines

    settings = config.load()
    os.chdir("/")

    def show(advice: Advice) -> None:
        with suppress(OSError):  # nobody waits any more
            os.write(pipe, "\n".join(advice_lines(advice, duration)).encode("utf-8", "replace"))
        os.close(pipe)

    if sys.argv[3:]:
        os.close(int(sys.argv[3]))
    advise_queued(settings, job_id, show)

"""Trains the site model in a process of its own.

On a long history that takes half a minute and a hundred megabytes: in a thread of the daemon's it
would make every page slow meanwhile, and the memory would not all come back.
"""

from __future__ import annotations

import ctypes
import logging
import os
import pickle
import signal
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from schedmate.service.usecases.history_import import learn_from
from schedmate.service.wiring import open_store

if TYPE_CHECKING:
    from schedmate.config import Settings

_log = logging.getLogger("schedmate.daemon")
_LONGEST_S = 1800.0
_NICE = 10
_PR_SET_PDEATHSIG = 1


def train_beside(settings: Settings, at: float) -> bool:
    """Whether it was trained; False where the process could not start or failed."""
    try:
        subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=pickle.dumps((settings, at)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_LONGEST_S,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        _log.info("the site model is trained in the daemon itself: %s", last)
        return False
    except (OSError, subprocess.TimeoutExpired) as error:
        _log.info("the site model is trained in the daemon itself: %s", error)
        return False
    return True


def _main() -> None:
    _end_with_parent()
    os.nice(_NICE)
    settings, at = pickle.load(sys.stdin.buffer)  # noqa: S301 - the daemon has written it
    with closing(open_store(settings)) as store:
        learn_from(store, at=at)


def _end_with_parent() -> None:
    """Where the kernel can do that."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    _main()

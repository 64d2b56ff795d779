"""Starts a process that outlives the one that starts it, and leaves no zombie behind."""

from __future__ import annotations

import subprocess
import sys
from typing import IO, TYPE_CHECKING

DetachFailed = subprocess.SubprocessError

if TYPE_CHECKING:
    from collections.abc import Sequence

_DETACH = "import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\n"


def start_detached(
    module: str,
    arguments: Sequence[str],
    *,
    log: IO[bytes] | int,
    pass_fds: Sequence[int] = (),
    cwd: str | None = "/",
) -> None:
    """Run the `main` of one of our modules with these arguments, in a session of its own.

    Without `cwd` it begins here.
    """
    subprocess.run(
        command_of(module, arguments),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=pass_fds,
        cwd=cwd,
        check=True,
    )


def command_of(module: str, arguments: Sequence[str]) -> list[str]:
    """It detaches itself before it imports anything: its parent waits for no more than that."""
    text = f"{_DETACH}from {module} import main\nmain()"
    return [sys.executable, "-P", "-c", text, *arguments]  # -P: nothing is imported from here

"""The logs that a command line names: found, and known to be files that can be read."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from schedmate.cli._common import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.handler import NamedLog

_MOST_PROBLEMS = 3


def standard_input() -> BinaryIO:
    """What `-` stands for; a program can be started without one."""
    from schedmate.model import BadInput

    if sys.stdin is None:
        raise BadInput("`-` reads standard input, and that is closed")
    return sys.stdin.buffer


def check_names(logs: Sequence[str]) -> None:
    """An empty word would be the directory one is in."""
    if any(not log.strip() for log in logs):
        raise click.UsageError("a LOG has no name: is a variable empty?")


def find_logs(log: str) -> tuple[Path, ...]:
    """The file, or every log below the directory; one that may not be entered is reported."""
    from schedmate.logs import logs_at
    from schedmate.model import BadInput

    path = Path(log)
    try:
        if path.is_dir():
            os.scandir(path).close()
        found = logs_at(path)
    except PermissionError as error:
        raise BadInput(f"{log} may not be read by this user") from error
    except OSError as error:
        raise BadInput(f"{log} cannot be read: {error.strerror}") from error
    for one in found:
        _check_kind(one)
    return found


def check_readable(logs: Sequence[Path | NamedLog]) -> None:
    """One log that cannot be read is named and left out; where all are so, that is the answer."""
    from schedmate.model import BadInput

    problems = [why for log in logs if isinstance(log, Path) and (why := _problem(log))]
    if not problems:
        return
    text = "; ".join(problems[:_MOST_PROBLEMS])
    if len(problems) > _MOST_PROBLEMS:
        text += f"; and {len(problems) - _MOST_PROBLEMS} more"
    if len(problems) == len(logs):
        raise BadInput(text)
    say(f"{text}; the others are read without")


def _check_kind(path: Path) -> None:
    """Opening a pipe may wait for ever, and a device may never end."""
    from schedmate.model import BadInput

    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and os.path.realpath(path) != os.devnull:
        raise BadInput(f"{path} is no file; pipe it into `-` to have it read to its end")


def _problem(path: Path) -> str:
    try:
        path.open("rb").close()
    except PermissionError:
        return f"{path} may not be read by this user"
    except OSError as error:
        return f"{path} cannot be read: {(error.strerror or str(error)).lower()}"
    return ""

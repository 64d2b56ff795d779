"""Files and directories for their owner only, without a moment in which others may read them.

The process's umask is left alone: a job's own output keeps the mode that its user expects.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from schedmate.model import BadInput

if TYPE_CHECKING:
    from pathlib import Path

_FILE, _DIRECTORY = 0o600, 0o700
_OTHERS = 0o077
_OURS = (
    *("schedmate.sqlite3", "serve.lock", "local", "queue.sqlite3", "daemon.", "jobs"),
    *("advising.", "gpu"),
)
"""How the names begin of what SchedMate keeps in its directories."""


def private_directory(path: Path) -> None:
    """Make the directory and what is missing above it for the owner only.

    One that is there already is tightened if nothing but SchedMate's files is in it: a home or
    a project directory that was chosen as the state directory keeps its mode.
    """
    make_directory(path)
    check_owner(path)
    found = path.stat()
    loose = stat.S_IMODE(found.st_mode) & _OTHERS
    if loose and found.st_uid == os.geteuid() and all(map(_is_ours, path.iterdir())):
        path.chmod(_DIRECTORY)


def check_owner(directory: Path) -> None:
    """Refuse, as root, a directory of another user, who could plant links to root's files."""
    if os.geteuid() == 0 and directory.stat().st_uid != 0:
        raise BadInput(
            f"root keeps nothing in {directory}, which belongs to another user; "
            "set SCHEDMATE_STATE_DIR to a directory of root's own"
        )


def make_directory(path: Path) -> None:
    """The same without touching one that is there."""
    if path.exists() or path == path.parent:
        return
    make_directory(path.parent)
    path.mkdir(mode=_DIRECTORY, exist_ok=True)


def create_private(path: Path) -> None:
    """Make the file unless it is there; tighten it if it is and belongs to this user.

    It is never opened here: closing it would end the locks that SQLite holds on it in this
    process.
    """
    with suppress(FileExistsError):
        os.mknod(path, stat.S_IFREG | _FILE)
    if path.is_symlink():
        raise BadInput(f"{path} is a link; SchedMate keeps its files where they are")
    tighten(path)


def tighten(path: Path) -> None:
    """Take away what others may do with a file of this user."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        loose = stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) & _OTHERS
        if loose and found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file that only its owner may read; it is made where it is missing."""
    check_owner(path.parent)
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _FILE)
    tighten(path)
    return descriptor


def append_private(path: Path) -> BinaryIO:
    """A log to write on."""
    return os.fdopen(open_private(path, os.O_WRONLY | os.O_APPEND), "ab")


def _is_ours(path: Path) -> bool:
    return path.name.startswith(_OURS)


def open_to_all(path: Path, setting: str) -> str:
    """A warning where every account of this machine can read the file of a secret; else empty."""
    path = path.expanduser()
    try:
        readable = bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return ""  # its reader reports that
    return f"{setting} {path} can be read by every account: chmod 600 {path}" if readable else ""

"""Reading with the rights of this process: one's own jobs, and what a person names."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from schedmate.files.base import Status, checked_name, no_file
from schedmate.files.mounts import is_made_up, is_stored

_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""A pipe does not wait for its writer, and a terminal does not become ours."""


@dataclass(frozen=True, slots=True)
class OwnFiles:
    @property
    def user(self) -> str:
        return ""

    def open(self, path: str) -> int:
        return open_regular(path, known=False)

    def open_directory(self, path: str) -> int:
        return os.open(checked_name(path), _AT_ONCE | os.O_DIRECTORY)

    def stat(self, path: str) -> Status:
        return os.stat(checked_name(path))  # noqa: PTH116 - a thousand times a second


INVOKER = OwnFiles()
"""For paths that a person gives on the command line."""


def open_regular(path: str, *, known: bool) -> int:
    """A device or a pipe is not even opened, unless it takes the file's place this very moment."""
    if not stat.S_ISREG(os.stat(checked_name(path)).st_mode):  # noqa: PTH116 - as above
        raise no_file(path, "no regular file")
    return check(os.open(path, _AT_ONCE), path, known=known)


def check(file: int, path: str, *, known: bool, mount: bytes | None = None) -> int:
    """The same descriptor; closed, with an OSError, where it is no file with stored content.

    `mount`: where another process has opened it, as that process found it.
    """
    found = os.fstat(file)
    if mount is None:
        stored = is_stored(file, found.st_dev, known=known)
    else:
        stored = bool(mount) and not is_made_up(mount)
    if stat.S_ISREG(found.st_mode) and stored:
        return file
    os.close(file)
    raise no_file(path, "no stored file" if stat.S_ISREG(found.st_mode) else "no regular file")


def place_of(file: int) -> str | None:
    """Where the open file lies, without links; None where that is out of sight."""
    try:
        place = os.readlink(f"/proc/self/fd/{file}")  # noqa: PTH115 - not worth an object
    except OSError:
        return None
    return place if place.startswith("/") else None

"""The seam through which every file of a job is read."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Protocol


class Status(Protocol):
    """The fields of `os.stat` that are used."""

    @property
    def st_mode(self) -> int: ...
    @property
    def st_ino(self) -> int: ...
    @property
    def st_uid(self) -> int: ...
    @property
    def st_size(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...


class Reader(Protocol):
    """Opens files with the rights of one user; whatever may not be read is an OSError."""

    @property
    def user(self) -> str:
        """The job owner with whose rights it reads; empty: the user who runs this process."""

    def open(self, path: str) -> int:
        """A descriptor of a regular file that is stored somewhere; the caller closes it."""

    def open_directory(self, path: str) -> int:
        """A descriptor whose entries can be listed."""

    def stat(self, path: str) -> Status:
        """Of what the name leads to, links followed."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A job's owner as this machine knows him."""

    user: str
    uid: int
    gid: int
    groups: frozenset[int]


def no_file(path: str, why: str) -> OSError:
    return OSError(errno.EINVAL, why, path)


def checked_name(path: str) -> str:
    """The name, or an OSError where it has a NUL in it."""
    if "\0" in path:
        raise no_file(path, "no name of a regular file")
    return path

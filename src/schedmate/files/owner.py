"""Reading as a job's owner, through a process that is nothing else; for root only."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple

from schedmate.files import helper as program
from schedmate.files.base import Owner, Status, checked_name, no_file
from schedmate.files.helpers import HELPERS, Helpers
from schedmate.files.own import check


class _Status(NamedTuple):
    st_mode: int
    st_ino: int
    st_uid: int
    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True, slots=True)
class OwnersFiles:
    owner: Owner
    _helpers: Helpers = field(default=HELPERS, compare=False, repr=False)

    @property
    def user(self) -> str:
        return self.owner.user

    def open(self, path: str) -> int:
        return check(self._descriptor(program.OPEN, path), path, known=True)

    def open_directory(self, path: str) -> int:
        return self._descriptor(program.DIRECTORY, path)

    def stat(self, path: str) -> Status:
        found, _ = self._helpers.ask(self.owner, program.STAT, _absolute(path))
        return _Status(*found)

    def _descriptor(self, kind: bytes, path: str) -> int:
        _, file = self._helpers.ask(self.owner, kind, _absolute(path))
        if file is None:
            raise no_file(path, "no regular file")
        return file


def _absolute(path: str) -> str:
    """The helper's directory is not ours."""
    checked = checked_name(path)
    return checked if checked.startswith("/") else os.path.join(os.getcwd(), checked)  # noqa: PTH109, PTH118 - links stay as they are

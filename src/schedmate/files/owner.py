"""Reading as a job's owner, through a process that is nothing else."""

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
        file, mount = self._descriptor(program.OPEN, path)
        return check(file, path, known=True, mount=mount)

    def open_directory(self, path: str) -> int:
        return self._descriptor(program.DIRECTORY, path)[0]

    def stat(self, path: str) -> Status:
        return _Status(*self._helpers.ask(self.owner, program.STAT, _absolute(path)).numbers)

    def _descriptor(self, kind: bytes, path: str) -> tuple[int, bytes]:
        answer = self._helpers.ask(self.owner, kind, _absolute(path))
        if answer.file is None:
            raise no_file(path, "no regular file")
        return answer.file, answer.mount


def _absolute(path: str) -> str:
    """The helper's directory is not ours."""
    checked = checked_name(path)
    return checked if checked.startswith("/") else os.path.join(os.getcwd(), checked)  # noqa: PTH109, PTH118 - links stay as they are

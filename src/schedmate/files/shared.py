"""Reading another user's job without root's rights: what both may read, and nothing else."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field

from schedmate.files.base import Owner, Status, checked_name
from schedmate.files.own import INVOKER, open_regular
from schedmate.files.rights import ENTER, READ, may

_Identity = tuple[int, ...]
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """An account in many groups must not show a job's owner what only those groups may read."""

    owner: Owner
    _seen: dict[str, _Identity] = field(default_factory=dict, compare=False, repr=False)

    @property
    def user(self) -> str:
        return self.owner.user

    def open(self, path: str) -> int:
        return self._checked(open_regular(path, known=True), path, READ)

    def open_directory(self, path: str) -> int:
        return self._checked(INVOKER.open_directory(path), path, READ, ENTER)

    def stat(self, path: str) -> Status:
        """Looked at closely once; again when it has become another file, or another's."""
        found = os.stat(checked_name(path))  # noqa: PTH116 - a thousand times a second
        identity = (found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid)
        if self._seen.get(path) != identity:
            os.close(self._checked(os.open(path, os.O_PATH | os.O_CLOEXEC), path))
            if len(self._seen) > _MOST_REMEMBERED:
                self._seen.clear()
            self._seen[path] = identity
        return found

    def _checked(self, file: int, path: str, *rights: int) -> int:
        if may(self.owner, file, *rights):
            return file
        os.close(file)
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


@dataclass(frozen=True, slots=True)
class NoFiles:
    """Of an owner whom this machine does not know."""

    user: str

    def open(self, path: str) -> int:
        raise self._unknown(path)

    def open_directory(self, path: str) -> int:
        raise self._unknown(path)

    def stat(self, path: str) -> Status:
        raise self._unknown(path)

    def _unknown(self, path: str) -> PermissionError:
        return PermissionError(errno.EACCES, "this machine does not know that user", path)

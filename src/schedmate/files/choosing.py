"""With whose rights the files of a job are read."""

from __future__ import annotations

import os
import pwd
import time
from pathlib import Path

from schedmate.files.base import Owner, Reader
from schedmate.files.own import INVOKER
from schedmate.files.shared import NoFiles, SharedFiles
from schedmate.model.account import account_name

_GOOD_FOR_S = 60.0
_NO_GROUP = 65534
_NO_UID = 2**32 - 1
_known: dict[tuple[str, int], tuple[float, Reader]] = {}


class _Service:
    """Where the service listens that reads as other users."""

    path = Path("/run/schedmate-files.sock")


_service = _Service()


def use_service(path: Path) -> None:
    """Where it is to be asked for from now on."""
    if path != _service.path:
        _service.path = path
        _known.clear()


def service_answers() -> bool:
    """Whether this account may ask it."""
    return _service.path.is_socket() and os.access(_service.path, os.W_OK)


def files_of(user: str) -> Reader:
    """The files of this user's jobs: as the owner could read them, or not at all."""
    key, now = (user, os.geteuid()), time.monotonic()
    until, reader = _known.get(key, (0.0, INVOKER))
    if now >= until:
        reader = _reader(user)
        _known[key] = now + _GOOD_FOR_S, reader
    return reader


def _reader(user: str) -> Reader:
    owner, own = _owner(user), os.geteuid()
    if owner is None:
        return INVOKER if _is_our_name(user) else NoFiles(user)
    if owner.uid == own:
        return INVOKER
    if own == 0:
        from schedmate.files.owner import OwnersFiles

        return OwnersFiles(owner)
    if owner.uid == 0 or not service_answers():
        return SharedFiles(owner)
    from schedmate.files.helpers import service_at
    from schedmate.files.owner import OwnersFiles

    return OwnersFiles(owner, service_at(_service.path))


def _owner(user: str) -> Owner | None:
    try:
        entry = pwd.getpwnam(user)
        groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    except (KeyError, ValueError, OSError):
        return _without_entry(user)
    return Owner(user, entry.pw_uid, entry.pw_gid, frozenset(groups))


def _without_entry(user: str) -> Owner | None:
    """A user who is known by number only has no groups here."""
    if not user.isascii() or not user.isdecimal() or not 0 < int(user) < _NO_UID:
        return None
    try:
        pwd.getpwuid(int(user))
    except KeyError:
        return Owner(user, int(user), _NO_GROUP, frozenset())
    return None  # who has a name is known by it


def _is_our_name(user: str) -> bool:
    """In a container one's own number may have no entry; root's rights are lent to no name."""
    try:
        return os.geteuid() != 0 and user == account_name()
    except (KeyError, OSError):
        return False

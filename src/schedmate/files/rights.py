"""Whether another user could read what this process has opened: mode bits and POSIX ACLs."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator

from schedmate.files.base import Owner
from schedmate.files.own import place_of

READ, ENTER = 4, 1
_ACL = "system.posix_acl_access"
_VERSION = struct.Struct("<I")
_ENTRY = struct.Struct("<HHI")
_USER, _GROUP_OWNER, _GROUP, _MASK = 0x02, 0x04, 0x08, 0x10

_Entry = tuple[int, int, int]
"""Tag, rights and whose they are."""


def may(owner: Owner, file: int, *rights: int) -> bool:
    """Has all these rights on an open file, and may enter all directories above it."""
    place = place_of(file)
    if place is None:
        return False
    return all(_allows(file, right, owner) for right in rights) and all(
        _allows(above, ENTER, owner) for above in _parents(place)
    )


def _parents(place: str) -> Iterator[str]:
    while place != "/":
        place = os.path.dirname(place)  # noqa: PTH120 - strings are fast
        yield place


def _allows(what: int | str, right: int, owner: Owner) -> bool:
    if owner.uid == 0:
        return True
    found = os.stat(what)  # noqa: PTH116 - a descriptor or a name
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid == owner.uid:
        return bool(mode >> 6 & right)
    acl = _acl(what)
    if acl:
        return _allowed_by(acl, right, owner, group=found.st_gid, other=mode)
    return bool(mode >> 3 * (found.st_gid in owner.groups) & right)


def _allowed_by(
    acl: tuple[_Entry, ...], right: int, owner: Owner, *, group: int, other: int
) -> bool:
    """As the kernel decides: a named user, else any of the groups, else all others."""
    mask = next((rights for tag, rights, _ in acl if tag == _MASK), 7)
    for tag, rights, uid in acl:
        if tag == _USER and uid == owner.uid:
            return bool(rights & mask & right)
    own = [
        rights
        for tag, rights, gid in acl
        if (tag == _GROUP_OWNER and group in owner.groups)
        or (tag == _GROUP and gid in owner.groups)
    ]
    if own:
        return any(rights & mask & right for rights in own)
    return bool(other & right)


def _acl(what: int | str) -> tuple[_Entry, ...]:
    try:
        data = os.getxattr(what, _ACL)
    except OSError:  # none, or none on this file system
        return ()
    usable = len(data) - (len(data) - _VERSION.size) % _ENTRY.size
    return tuple(_ENTRY.iter_unpack(data[_VERSION.size : usable]))

"""Who asks: the account behind a connection from this machine, found in the kernel's own table.

A connection over loopback has two ends here, and the kernel knows the owner of the other one. So
every local user is recognised without a password, also behind an ssh tunnel, whose end on this
machine belongs to the user who logged in. Who cannot be recognised is a stranger.
"""

from __future__ import annotations

import ipaddress
import os
import pwd
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.service.visibility import Viewer

if TYPE_CHECKING:
    from collections.abc import Sequence

Address = tuple[str, int]
STRANGER = Viewer(user="", operator=False)
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _UID = 1, 2, 7
"""Columns of /proc/net/tcp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAccounts:
    """Recognises the accounts of this machine by their connections."""

    operators: Sequence[str] = ()
    """Beside root and the account that this process runs under."""

    def viewer(self, client: Address | None, server: Address | None) -> Viewer:
        if client is None or server is None or not is_loopback(client[0]):
            return STRANGER
        uid = owner_of_connection(client, server)
        if uid is None:
            return STRANGER
        try:
            user = pwd.getpwuid(uid).pw_name
        except KeyError:
            user = str(uid)
        return Viewer(user=user, operator=uid in (0, os.getuid()) or user in self.operators)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def owner_of_connection(client: Address, server: Address) -> int | None:
    """The user id of the client's end of a TCP connection within this machine."""
    wanted = {(_hex(*client, family), _hex(*server, family)) for family in _families(client[0])}
    for table in _TABLES:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            columns = line.split()
            if (columns[_LOCAL], columns[_REMOTE]) in wanted:
                return int(columns[_UID])
    return None


def _families(host: str) -> list[socket.AddressFamily]:
    """An IPv4 address is also listed as one that is mapped into IPv6."""
    return [socket.AF_INET6] if ":" in host else [socket.AF_INET, socket.AF_INET6]


def _hex(host: str, port: int, family: socket.AddressFamily) -> str:
    """As the kernel writes it: each 32-bit word of the address in the byte order of the machine."""
    if family is socket.AF_INET6 and ":" not in host:
        host = f"::ffff:{host}"
    raw = socket.inet_pton(family, host)
    words = [
        int.from_bytes(raw[start : start + 4], sys.byteorder) for start in range(0, len(raw), 4)
    ]
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"

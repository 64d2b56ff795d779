"""Who asks: by a token, a trusted proxy's word, or the account that the kernel names.

A connection over loopback has two ends here, and the kernel knows the owner of the other one. So
every local user is recognised without a password, also behind an ssh tunnel, whose end on this
machine belongs to the user who logged in; over a unix socket it names the peer itself. Who cannot
be recognised is a stranger.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import sys
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.model.account import account_name
from schedmate.service.usecases.tokens import USER_NAME
from schedmate.service.visibility import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.datastructures import Headers

    from schedmate.model.access import Token
    from schedmate.site_settings import WebSettings

Address = tuple[str, int]
UNIX = "unix"
"""In the place of a host: the peer is on a unix socket, and its number is a user's."""
STRANGER = Viewer(user="", operator=False)
_USER = re.compile(USER_NAME)
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9
"""Columns of /proc/net/tcp."""
_NO_INODE = "0"
"""Of an end that no process holds any more, which the kernel lists as root's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAccounts:
    """Recognises the accounts of this machine by their connections."""

    operators: Sequence[str] = ()
    """Beside root and the account that this process runs under."""

    def viewer(self, client: Address | None, server: Address | None) -> Viewer:
        if client is not None and client[0] == UNIX:
            return self._account(client[1])
        if client is None or server is None or not is_loopback(client[0]):
            return STRANGER
        uid = owner_of_connection(client, server)
        return STRANGER if uid is None else self._account(uid)

    def _account(self, uid: int) -> Viewer:
        user = account_name(uid)
        return Viewer(user=user, operator=uid in (0, os.getuid()) or user in self.operators)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """All ways to be recognised, the most explicit one first; a token that fails is no other."""

    local: LocalAccounts
    settings: WebSettings
    token: Callable[[str], Token | None]
    """The token of a secret, if it is valid."""

    def viewer(self, client: Address | None, server: Address | None, headers: Headers) -> Viewer:
        secret = secret_in(headers.get("authorization", ""))
        if secret is not None:
            token = self.token(secret)
            return STRANGER if token is None else _of_token(token)
        if self._is_proxy(client, server):
            return self._of_proxy(headers)
        return self.local.viewer(client, server)

    def _is_proxy(self, client: Address | None, server: Address | None) -> bool:
        """On this machine its account counts: any user could send the header over loopback."""
        if not self.settings.proxy_header or client is None:
            return False
        if client[0] == UNIX or is_loopback(client[0]):
            user = self.local.viewer(client, server).user
            return user in self.settings.proxy_accounts
        return client[0] in self.settings.proxies

    def _of_proxy(self, headers: Headers) -> Viewer:
        """A header that is there twice is the client's as well as the proxy's."""
        named = headers.getlist(self.settings.proxy_header)
        user = named[0] if len(named) == 1 else ""
        if not _USER.fullmatch(user):
            return STRANGER
        return Viewer(user=user, operator=user in self.local.operators)


def _of_token(token: Token) -> Viewer:
    return Viewer(user=token.user, operator=token.scope == "operator", token=token)


def secret_in(header: str) -> str | None:
    """Of `Bearer SECRET`, or the password of `Basic`, which browsers ask for by themselves."""
    scheme, _, value = header.strip().partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return None if not header else ""
    try:
        return b64decode(value.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def network_of(host: str) -> str:
    """What one machine may send from: an IPv4 address, or all of an IPv6 network of 64 bits."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 4 or address.is_loopback:  # noqa: PLR2004 - the version of IP
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network(f"{address}/64", strict=False))


def owner_of_connection(client: Address, server: Address) -> int | None:
    """The user id of the client's end of a TCP connection within this machine.

    None where the client has closed it already: whose it was is not known any more.
    """
    return owners_of_connections([(client, server)]).get(client)


def owners_of_connections(ends: Sequence[tuple[Address, Address]]) -> dict[Address, int]:
    """The same of many, by client, with one look at the kernel's tables."""
    wanted = {
        (_hex(*client, family), _hex(*server, family)): client
        for client, server in ends
        for family in _families(client[0])
    }
    found: dict[Address, int] = {}
    for table in _TABLES:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            columns = line.split()
            client = wanted.get((columns[_LOCAL], columns[_REMOTE]))
            if client is not None and columns[_INODE] != _NO_INODE:
                found.setdefault(client, int(columns[_UID]))
        if len(found) == len(ends):
            break
    return found


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

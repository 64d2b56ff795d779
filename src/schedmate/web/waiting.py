"""Connections on which no request is being answered: a bounded number of each user and address.

Requests that are being answered have bounds by user (`guard`); what has not asked yet has no user.
The kernel names the account at the other end of a unix socket at once. Over loopback it does so by
a table that is long to read: it is read once for many connections, and only where there are many.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from schedmate.model.account import account_name
from schedmate.web.access import UNIX, is_loopback, network_of, owners_of_connections

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from schedmate.web.access import Address

    Owners = Callable[[Sequence[tuple[Address, Address]]], Mapping[Address, int]]

MOST_OF_ONE = 100
_CHECKED_AFTER_S = 0.2
_SOMEBODY_HERE = "loopback"
"""In the place of an owner, as long as the table was not read."""


class WaitingConnection(Protocol):
    """One that can be given up."""

    client: Address | None
    server: tuple[str, int | None] | None

    def give_up(self) -> None:
        """Close it at once."""


@dataclass(slots=True)
class WaitingConnections:
    """Where one owner has too many, those that have waited longest are given up."""

    proxies: Collection[str] = ()
    """Addresses and accounts through which many users come: these have no bound."""
    most: int = MOST_OF_ONE
    owners: Owners = owners_of_connections
    later: Callable[[Callable[[], None]], None] = field(default_factory=lambda: _check_soon)
    _checking: bool = False
    _of: dict[str, OrderedDict[WaitingConnection, None]] = field(
        default_factory=lambda: defaultdict(OrderedDict)
    )
    _owner: dict[WaitingConnection, str] = field(default_factory=dict)

    def enter(self, one: WaitingConnection) -> None:
        owner = _owner_of(one)
        self._put(one, owner)
        if len(self._of[owner]) > self.most and owner not in self.proxies and not self._checking:
            self._checking = True
            self.later(self._check)

    def leave(self, one: WaitingConnection) -> None:
        owner = self._owner.pop(one, None)
        if owner is not None:
            del self._of[owner][one]
            if not self._of[owner]:
                del self._of[owner]

    def _put(self, one: WaitingConnection, owner: str) -> None:
        self._of[owner][one] = None
        self._owner[one] = owner

    def _check(self) -> None:
        """What had sent a request as it came is being answered by now."""
        self._checking = False
        if len(self._of.get(_SOMEBODY_HERE, ())) > self.most:
            self._name_owners()
        for owner, waiting in list(self._of.items()):
            if owner not in self.proxies:
                for one in list(waiting)[: max(0, len(waiting) - self.most)]:
                    self._give_up(one)

    def _name_owners(self) -> None:
        unnamed = list(self._of[_SOMEBODY_HERE])
        ends = [(one.client, one.server) for one in unnamed]
        found = self.owners(ends)  # type: ignore[arg-type] # both are TCP
        for one in unnamed:
            uid = None if one.client is None else found.get(one.client)
            if uid is None:  # the other end is closed
                self._give_up(one)
            else:
                self.leave(one)
                self._put(one, account_name(uid))

    def _give_up(self, one: WaitingConnection) -> None:
        self.leave(one)
        one.give_up()


def _check_soon(check: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(_CHECKED_AFTER_S, check)


def _owner_of(one: WaitingConnection) -> str:
    host, number = one.client or ("", 0)
    if host == UNIX:
        return account_name(number)
    return _SOMEBODY_HERE if is_loopback(host) else network_of(host)

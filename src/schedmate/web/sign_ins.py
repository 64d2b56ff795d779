"""Sign-ins that failed: the first of an address at once, further ones counted together.

Who tries a thousand tokens a second, or from a thousand addresses, leaves a line now and then.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from schedmate.model import SchedMateError
from schedmate.web.access import UNIX, Address, network_of
from schedmate.web.buckets import Buckets

_log = logging.getLogger("schedmate.web")
_EVERY_S = 60.0
"""Between two lines about one address."""
_A_MINUTE, _AT_ONCE = 2.0, 30.0
"""Lines about all addresses together."""
_ALL = "all"
_MOST_ADDRESSES = 1000
Recorder = Callable[[str, str, str], None]
"""Takes an address, what happened there, and the local account that it came from."""


@dataclass(slots=True)
class FailedSignIns:
    record: Recorder
    total: int = 0
    _open: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)
    """When each address was last written down, and how often it has failed since."""
    _lines: Buckets = field(default_factory=lambda: Buckets(rate=_A_MINUTE / 60, size=_AT_ONCE))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, client: Address | None, account: Callable[[], str], now: float) -> None:
        """`account` names the account of this machine at the other end, where it is known."""
        address = "unknown" if client is None else network_of(client[0])
        attempts = self._due(address, now)
        if attempts is None:
            return
        what = "a token that is not valid" if attempts == 1 else f"{attempts} invalid tokens"
        user = account()
        shown = "the unix socket" if address == UNIX else address
        _log.warning("failed sign-in from %s: %s", shown, what, extra={"user": user})
        try:
            self.record(shown, what, user)
        except SchedMateError as error:
            _log.warning("a failed sign-in is not in the audit trail: %s", error)

    def _due(self, address: str, now: float) -> int | None:
        """How many attempts a line is about; None: not yet."""
        with self._lock:
            self.total += 1
            at, since = self._open.pop(address, (now - _EVERY_S, 0))
            if now - at < _EVERY_S or not self._lines.take(_ALL, now):
                self._open[address] = (at, since + 1)
                if len(self._open) > _MOST_ADDRESSES:
                    self._open.popitem(last=False)
                return None
            self._open[address] = (now, 0)
            return since + 1

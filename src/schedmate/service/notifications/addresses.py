"""Requests to a configured URL that lead nowhere else.

A name is looked up once, every address that it has must be allowed, and the connection goes to one
of those: a name that changes its address in between gains nothing. Redirects are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

_TIMEOUT_S = 10.0
DEADLINE_S = 20.0
"""For the whole exchange: a server that sends a byte now and then must not hold up all others."""
_MOST_READ = 10_000
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that is handed out of IPv6; forms that stand for an IPv4 address are outside of it."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_PROTOCOL_ASSIGNMENTS = ipaddress.IPv4Network("192.0.0.0/24")


class PermanentError(Exception):
    """Sending it again would fail again."""


class TemporaryError(Exception):
    """It may succeed later."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a POST goes; `private` allows addresses of the site's own network."""

    url: str
    private: bool = False

    def post(self, body: bytes, content_type: str) -> None:
        """A 2xx is a success; no message names the URL, which is a secret of its own."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PermanentError("the webhook's URL is neither http nor https")
        try:
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            raise PermanentError("the webhook's URL has no such port") from None
        address = allowed_address(parts.hostname, port, private=self.private)
        connection = _connection(parts.scheme, parts.hostname, port, address)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        deadline = threading.Timer(DEADLINE_S, connection.abort)
        deadline.daemon = True
        deadline.start()
        try:
            connection.request("POST", path, body, {"Content-Type": content_type})
            answer = connection.getresponse()
            answer.read(_MOST_READ)
            _check(answer.status)
        except ssl.SSLCertVerificationError as error:
            raise PermanentError(f"the webhook's certificate: {error.verify_message}") from None
        except (OSError, http.client.HTTPException) as error:
            raise TemporaryError(f"the webhook does not answer: {type(error).__name__}") from None
        finally:
            deadline.cancel()
            connection.close()


def allowed_address(host: str, port: int, *, private: bool) -> str:
    """One of the host's addresses, where all of them may be reached."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise TemporaryError("the webhook's host is not found") from None
    addresses = [str(one[4][0]) for one in found]
    if not private and not all(is_public(address) for address in addresses):
        raise PermanentError(
            "the webhook's host is in a private network; allow it with `private = true`"
        )
    return addresses[0]


def is_public(address: str) -> bool:
    """Mapped and translated forms count as the address that they stand for."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(one, ipaddress.IPv6Address):
        inner = one.ipv4_mapped or one.sixtofour
        if one in _NAT64:
            inner = ipaddress.IPv4Address(int(one) & 0xFFFFFFFF)
        if inner is None:
            return one in _UNICAST and one.is_global
        one = inner
    return one.is_global and not one.is_multicast and one not in _PROTOCOL_ASSIGNMENTS


def _check(status: int) -> None:
    if 200 <= status < 300:  # noqa: PLR2004 - as HTTP has it
        return
    if status in (408, 425, 429) or status >= 500:  # noqa: PLR2004 - as HTTP has it
        raise TemporaryError(f"the webhook answers {status}")
    raise PermanentError(f"the webhook answers {status}")


def _connection(scheme: str, host: str, port: int, address: str) -> _Pinned:
    """To the address that was checked, under the name that the certificate is of."""
    if scheme == "https":
        return _PinnedTls(host, port, address)
    return _Pinned(host, port, address)


class _Pinned(http.client.HTTPConnection):
    def __init__(self, host: str, port: int, address: str) -> None:
        super().__init__(host, port, timeout=_TIMEOUT_S)
        self._address = address
        self._socket: socket.socket | None = None

    def connect(self) -> None:
        self._socket = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = self._socket

    def abort(self) -> None:
        """From another thread: whatever waits for the server fails at once."""
        with suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)


class _PinnedTls(_Pinned):
    def connect(self) -> None:
        super().connect()
        wrapped = ssl.create_default_context().wrap_socket(
            self.sock, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock = self._socket = wrapped
        wrapped.do_handshake()

"""Requests to a configured URL that lead nowhere else.

A name is looked up once, every address that it has must be allowed, and the connection goes to one
of those: a name that changes its address in between gains nothing. Redirects are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

_TIMEOUT_S = 10.0
_MOST_READ = 10_000


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
    inner = getattr(one, "ipv4_mapped", None) or getattr(one, "sixtofour", None)
    return (inner or one).is_global and not (inner or one).is_multicast


def _check(status: int) -> None:
    if 200 <= status < 300:  # noqa: PLR2004 - as HTTP has it
        return
    if status in (408, 425, 429) or status >= 500:  # noqa: PLR2004 - as HTTP has it
        raise TemporaryError(f"the webhook answers {status}")
    raise PermanentError(f"the webhook answers {status}")


def _connection(scheme: str, host: str, port: int, address: str) -> http.client.HTTPConnection:
    """To the address that was checked, under the name that the certificate is of."""
    if scheme == "https":
        return _PinnedTls(host, port, address)
    return _Pinned(host, port, address)


class _Pinned(http.client.HTTPConnection):
    def __init__(self, host: str, port: int, address: str) -> None:
        super().__init__(host, port, timeout=_TIMEOUT_S)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)


class _PinnedTls(_Pinned):
    def connect(self) -> None:
        super().connect()
        self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

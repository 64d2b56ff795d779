"""Requests to one server: over TCP, TLS or a unix socket, with the standard library alone."""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from schedmate.model import (
    BadInput,
    NotFound,
    NotSignedIn,
    SchedMateError,
    ServerUnreachable,
)

_MOST_BYTES = 200_000_000
_SOCKET_HOST = "localhost"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: a path, or a host with its port."""

    shown: str
    path: str = ""
    """Of a unix socket."""
    host: str = ""
    port: int | None = None
    tls: bool = False
    prefix: str = ""
    """Of the URL, where a proxy serves several things."""

    @classmethod
    def of(cls, text: str) -> Address:
        """`unix:/run/schedmate/api.sock`, a path, or a URL."""
        path = text.removeprefix("unix:")
        if path.startswith("/"):
            return cls(text, path=path)
        parts = urlsplit(text)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise BadInput(
                f"{text!r} is no server: write unix:/path/of/a/socket or http(s)://HOST:PORT"
            )
        if parts.username is not None or parts.query or parts.fragment:
            raise BadInput(f"{parts.hostname}: a server's URL has no login, query or fragment")
        return cls(
            text,
            host=parts.hostname,
            port=port,
            tls=parts.scheme == "https",
            prefix=parts.path.rstrip("/"),
        )

    @property
    def is_private(self) -> bool:
        """Whether a token can be sent there: no one on the way can read it."""
        return bool(self.path) or self.tls or _is_loopback(self.host)


class Transport:
    """One request after the other; connections are made anew, as a daemon may restart."""

    def __init__(
        self,
        address: Address,
        token: str | None,
        timeout_s: float,
        connect_s: float | None = None,
    ) -> None:
        """A machine that is away is given `connect_s` where that is set, a daemon `timeout_s`."""
        if token is not None and not address.is_private:
            raise BadInput(f"{address.shown} would get the token in the clear; use https://")
        self._address = address
        self._token = token
        self._timeout_s = timeout_s
        self._connect_s = timeout_s if connect_s is None else connect_s

    def get(self, *path: str, **query: object) -> Any:
        return self._json("GET", path, query, None)

    def post(self, *path: str, body: object) -> Any:
        return self._json("POST", path, {}, json.dumps(body).encode())

    def put(self, *path: str, body: object) -> Any:
        return self._json("PUT", path, {}, json.dumps(body).encode())

    def delete(self, *path: str) -> Any:
        return self._json("DELETE", path, {}, None)

    def open(
        self, method: str, path: tuple[str, ...], query: dict[str, Any], body: bytes | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = self._connection()
        try:
            connection.connect()
            connection.sock.settimeout(self._timeout_s)
            connection.request(method, self._target(path, query), body, self._headers(body))
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ServerUnreachable(
                f"the daemon at {self._address.shown} does not answer ({error})"
            ) from error
        return connection, answer

    def _json(
        self, method: str, path: tuple[str, ...], query: dict[str, Any], body: bytes | None
    ) -> Any:
        connection, answer = self.open(method, path, query, body)
        try:
            text = answer.read(_MOST_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise ServerUnreachable(
                f"the daemon at {self._address.shown} broke off ({error})"
            ) from error
        finally:
            connection.close()
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ServerUnreachable(f"{self._address.shown} is no SchedMate daemon") from error
        if answer.status not in (HTTPStatus.OK, HTTPStatus.CREATED):
            raise problem_of(answer.status, data)
        return data

    def _connection(self) -> http.client.HTTPConnection:
        where = self._address
        if where.path:
            return _UnixConnection(where.path, self._connect_s)
        kind = http.client.HTTPSConnection if where.tls else http.client.HTTPConnection
        return kind(where.host, where.port, timeout=self._connect_s)

    def _target(self, path: tuple[str, ...], query: dict[str, Any]) -> str:
        parts = "/".join(quote(part, safe="+") for part in path)
        stated = {name: value for name, value in query.items() if value not in ("", None)}
        return f"{self._address.prefix}/api/v1/{parts}" + ("?" + urlencode(stated)) * bool(stated)

    def _headers(self, body: bytes | None) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__(_SOCKET_HOST, timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def problem_of(status: int, data: Any) -> SchedMateError:
    """The error that a problem+json states, in one sentence."""
    stated = data if isinstance(data, dict) else {}
    text = str(stated.get("detail") or stated.get("title") or f"status {status}")
    match status:
        case HTTPStatus.NOT_FOUND:
            return NotFound(text)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return NotSignedIn(f"the daemon refuses: {text}")
        case HTTPStatus.BAD_REQUEST | HTTPStatus.CONFLICT | HTTPStatus.UNPROCESSABLE_ENTITY:
            return BadInput(text)
    return ServerUnreachable(f"the daemon cannot answer now: {text}")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

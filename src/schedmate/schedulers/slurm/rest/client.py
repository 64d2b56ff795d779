"""One question to slurmrestd at a time: JSON in, JSON out, within a deadline.

An answer is whole JSON with the part that was asked for and without errors, or an error is raised:
a page of a proxy, half an answer or a refused token never look like an empty queue.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import socket
import ssl
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from schedmate.model import (
    BadInput,
    NotAllowed,
    NotFound,
    SchedulerError,
    SchedulerUnreachable,
)

if TYPE_CHECKING:
    from schedmate.schedulers.slurm.rest.tokens import Token, TokenSource

# as in slurm_errno.h
_UNKNOWN_JOBS = frozenset({2017, 2081})
_FORBIDDEN = frozenset({2002, 2010})
_NO_TOKEN = frozenset({1007})
_UNSPECIFIED = frozenset({-1, None})
"""All that v0.0.38 shows of a controller that is away and of a token that it refuses."""
_OF_COMMUNICATION = range(1000, 1900)
_OF_ACCOUNTING = range(7000, 8000)
_REFUSED_TOKEN = (401, 403, 511)
_NO_PATH = 404
_LONGEST_SHOWN = 120


class NoSuchPath(SchedulerError):
    """This slurmrestd does not know the path, as after an upgrade."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where slurmrestd listens."""

    url: str
    host: str = ""
    port: int | None = None
    tls: bool = False
    path: str = ""
    """Of its socket, where it listens on one."""

    @classmethod
    def read(cls, url: str) -> Place:
        """`http://127.0.0.1:6820`, `https://host:6820` or `unix:///run/slurmrestd.sock`."""
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise BadInput("slurm.rest_url takes no password: put a token into rest_token_file")
        if parts.scheme == "unix" and parts.path.startswith("/") and not parts.netloc:
            return cls(url, path=parts.path)
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not host or parts.path.strip("/"):
            raise BadInput(
                f"slurm.rest_url is {url!r}: write https://HOST:PORT or unix:///PATH/OF/SOCKET"
            )
        if parts.scheme == "http" and not _is_loopback(host):
            raise BadInput(
                f"slurm.rest_url is {url!r}, which would send the token unencrypted: use https, "
                "a unix socket or an address of this machine"
            )
        return cls(url, host, _port(url), parts.scheme == "https")

    def connection(self, timeout_s: float) -> http.client.HTTPConnection:
        if self.path:
            return _UnixConnection(self.path, timeout_s)
        if self.tls:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self.host, self.port, timeout=timeout_s, context=context
            )
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout_s)


class RestClient:
    def __init__(self, url: str, tokens: TokenSource, timeout_s: float) -> None:
        self.place = Place.read(url)
        self._tokens = tokens
        self._timeout_s = timeout_s

    def user(self) -> str:
        """Whose token it is; empty where it does not state it."""
        return self._tokens.current().user

    def get(self, path: str, part: str, kind: type = list) -> Any:
        """The part of the answer of this name, which has to be there and of this kind."""
        found = self.ask("GET", path).get(part)
        if not isinstance(found, kind):
            raise self._no_answer(f"its answer has no {part}")
        return found

    def ask(self, method: str, path: str, body: object = None, done_by: str = "") -> dict[str, Any]:
        """The whole answer; what slurmrestd refuses or ignores is an error.

        A part of the name `done_by` shows that it was done, whatever stands among the errors.
        """
        token = self._tokens.current()
        status, raw = self._exchange(method, path, body, token)
        _show(method, path, status, raw)
        if status in _REFUSED_TOKEN:
            raise self._refused(token)
        try:
            answer = json.loads(raw)
        except ValueError:
            if status == _NO_PATH:
                raise NoSuchPath(f"slurmrestd knows no {path}") from None
            shown = " ".join(raw[:500].decode(errors="replace").split())[:_LONGEST_SHOWN]
            raise self._no_answer(f"HTTP {status}: {shown or 'nothing'}") from None
        if not isinstance(answer, dict):
            raise self._no_answer(f"HTTP {status} without an object")
        if not answer.get(done_by):
            self._check(status, answer, token)
        return answer

    def _exchange(self, method: str, path: str, body: object, token: Token) -> tuple[int, bytes]:
        """The deadline is for all of it: a socket's own time-out is for each piece."""
        connection = self.place.connection(self._timeout_s)
        headers = {"X-SLURM-USER-TOKEN": token.secret.reveal(), "Accept": "application/json"}
        if token.user:
            headers["X-SLURM-USER-NAME"] = token.user
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        late = threading.Event()
        watch: threading.Timer | None = None
        try:
            began = time.monotonic()
            connection.connect()
            left = self._timeout_s - (time.monotonic() - began)
            watch = threading.Timer(max(left, 0.0), _hang_up, (connection.sock, late))
            watch.daemon = True
            watch.start()
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise self._no_answer(f"none in {self._timeout_s:g} s") from None
            raise self._no_answer(_in_words(error)) from None
        finally:
            if watch is not None:
                watch.cancel()
            connection.close()

    def _check(self, status: int, answer: dict[str, Any], token: Token) -> None:
        errors = [one for one in _listed(answer.get("errors")) if isinstance(one, dict)]
        ignored = [text for text in map(_description, _listed(answer.get("warnings"))) if text]
        ignored = [text for text in ignored if text.startswith("Ignoring unknown field")]
        if not errors and not ignored and status < http.HTTPStatus.BAD_REQUEST:
            return
        numbers = {one.get("error_number", one.get("error_code")) for one in errors}
        text = "; ".join(dict.fromkeys(filter(None, map(_description, errors)))) or "".join(ignored)
        if numbers & _NO_TOKEN or token.has_expired():
            raise self._refused(token)
        if numbers & _UNKNOWN_JOBS:
            raise NotFound(f"Slurm does not know this job (slurmrestd: {text})")
        if numbers & _FORBIDDEN:
            raise NotAllowed(f"slurmrestd: {text}")
        if any(n in _OF_COMMUNICATION or n in _OF_ACCOUNTING for n in numbers if n is not None):
            raise SchedulerUnreachable(f"Slurm cannot be reached (slurmrestd: {text})")
        if numbers <= _UNSPECIFIED:
            raise SchedulerUnreachable(
                f"slurmrestd gets no answer of slurmctld ({text or f'HTTP {status}'}): it is away, "
                f"or it does not accept the token; {self._tokens.advice()}"
            )
        raise SchedulerError(f"slurmrestd: {text}")

    def _refused(self, token: Token) -> SchedulerUnreachable:
        why = "the token has expired" if token.has_expired() else "it does not accept the token"
        return SchedulerUnreachable(
            f"slurmrestd at {self.place.url} refuses: {why}; {self._tokens.advice()}"
        )

    def _no_answer(self, why: str) -> SchedulerUnreachable:
        return SchedulerUnreachable(
            f"slurmrestd at {self.place.url} gives no usable answer ({why}); "
            "is it running? slurm.rest_url = '' goes back to Slurm's commands"
        )


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _hang_up(sock: socket.socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        raise BadInput(f"slurm.rest_url is {url!r}, and its port is no number") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listed(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _description(error: object) -> str:
    """`Unable to find JobId=999: Invalid job id specified`"""
    if not isinstance(error, dict):
        return ""
    parts = dict.fromkeys(
        text
        for text in (error.get("description"), error.get("error"))
        if isinstance(text, str) and text
    )
    return ": ".join(parts)


def _in_words(error: Exception) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "it was cut off"
    if isinstance(error, http.client.BadStatusLine):
        return "it is no HTTP"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _show(method: str, path: str, status: int, raw: bytes) -> None:
    """See `commands`; the token is no part of what is shown."""
    if os.environ.get("SCHEDMATE_DEBUG", "0") not in ("", "0"):
        sys.stderr.write(f"+ {method} {path} -> {status}\n{raw!r}\n")

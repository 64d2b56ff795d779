"""The token that slurmrestd asks for: from a file that a site renews, or from `scontrol token`."""

from __future__ import annotations

import base64
import binascii
import json
import re
import stat
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from schedmate.model import SchedulerUnreachable
from schedmate.sections import Secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LIFESPAN_S = 1800
"""Of a token that this process asks for."""
_RENEWED_S = 300.0
"""Before its end such a token is replaced."""
_TOKEN = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A token with what it states about itself; `expires` is unknown where it states nothing."""

    secret: Secret
    user: str = ""
    expires: float | None = None

    @classmethod
    def read(cls, text: str) -> Token | None:
        """Of `SLURM_JWT=eyJ…` or the bare token; None where the text is no token."""
        bare = text.strip().removeprefix("SLURM_JWT=")
        if not _TOKEN.fullmatch(bare):
            return None
        claims = _claims(bare)
        user, expires = claims.get("sun") or claims.get("username"), claims.get("exp")
        return cls(
            Secret(bare),
            user if isinstance(user, str) else "",
            float(expires) if isinstance(expires, int | float) else None,
        )

    def has_expired(self) -> bool:
        return self.expires is not None and self.expires <= time.time()


class TokenSource(Protocol):
    def current(self) -> Token:
        """The token to send now."""

    def advice(self) -> str:
        """How to get a new one, for an error message."""


class TokenFile:
    """A file that is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, int, int], Token] | None = None

    def current(self) -> Token:
        try:
            status = self._path.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if self._read is None or self._read[0] != seen:
                self._read = (seen, self._from(self._path.read_text(encoding="ascii")))
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is no text"
            raise SchedulerUnreachable(
                f"the token file {self._path} cannot be read ({why}); {self.advice()}"
            ) from None
        return self._read[1]

    def advice(self) -> str:
        return f"renew it: scontrol token lifespan=86400 > {self._path}"

    def is_open_to_others(self) -> bool:
        return bool(self._path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))

    def _from(self, text: str) -> Token:
        token = Token.read(text)
        if token is None:
            raise SchedulerUnreachable(f"{self._path} holds no token; {self.advice()}")
        return token


class OwnToken:
    """`scontrol token`, run by this account and repeated before its token expires."""

    def __init__(self, ask: Callable[[int], str]) -> None:
        self._ask = ask
        self._token: Token | None = None

    def current(self) -> Token:
        if self._token is None or self._ends_soon(self._token):
            self._token = Token.read(self._ask(LIFESPAN_S))
        if self._token is None:
            raise SchedulerUnreachable(f"scontrol token gave no token; {self.advice()}")
        return self._token

    def advice(self) -> str:
        return "set slurm.rest_token_file to a file with a token that an administrator made"

    @staticmethod
    def _ends_soon(token: Token) -> bool:
        return token.expires is not None and token.expires - time.time() < _RENEWED_S


def _claims(token: str) -> dict[str, object]:
    """What the token states; only Slurm can tell whether it is true."""
    middle = token.split(".")[1]
    try:
        found = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

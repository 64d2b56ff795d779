"""Tokens: made, listed, revoked and checked. A secret is shown once; the store has its digest."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.model import BadInput, NotFound
from schedmate.model.access import Token, TokenScope
from schedmate.model.account import account_name
from schedmate.store import PersonsAct

if TYPE_CHECKING:
    from schedmate.store import Store

PREFIX = "smt_"
"""By which a token is recognised, and redacted where it turns up in a log."""
_BYTES = 32
_USED_EVERY_S = 3600.0
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")


def create_token(
    store: Store, user: str, *, scope: TokenScope = "user", name: str = "", days: float | None
) -> tuple[Token, str]:
    """A new token and its secret."""
    if not _USER.fullmatch(user):
        raise BadInput(f"{user!r} is no name of a user")
    secret = PREFIX + secrets.token_urlsafe(_BYTES)
    now = time.time()
    token = Token(
        id=secrets.token_hex(4),
        user=user,
        scope=scope,
        name=name,
        created_at=now,
        created_by=account_name(),
        expires_at=None if days is None else now + days * 86_400,
    )
    store.keep_token(token, digest_of(secret))
    _record(store, "create a token", token.id, f"{scope} token of {user} {name}".strip())
    return token, secret


def revoke_token(store: Store, token_id: str) -> None:
    """At once: the daemon looks each time it is shown."""
    if not store.change_token(token_id, revoked_at=time.time()):
        raise NotFound(f"there is no token {token_id}; schedmate token list shows them")
    _record(store, "revoke a token", token_id)


def _record(store: Store, action: str, token_id: str, detail: str = "") -> None:
    store.record_act(
        PersonsAct(
            at=time.time(),
            user=account_name(),
            action=action,
            about=f"token {token_id}",
            detail=detail,
        )
    )


def digest_of(secret: str) -> str:
    """A fast one will do: a secret of 32 random bytes cannot be found by trying."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


@dataclass(slots=True)
class TokenCheck:
    """Finds the token of a secret, and notes now and then that it is in use."""

    store: Store
    _noted: dict[str, float] = field(default_factory=dict)

    def __call__(self, secret: str) -> Token | None:
        now = time.time()
        token = self.store.token_of(digest_of(secret)) if secret else None
        if token is None or not token.is_valid(now):
            return None
        if now - self._noted.get(token.id, 0.0) > _USED_EVERY_S:
            self._noted[token.id] = now
            self.store.change_token(token.id, used_at=now)
        return token


def has_valid_token(store: Store) -> bool:
    return any(token.is_valid(time.time()) for token in store.tokens())

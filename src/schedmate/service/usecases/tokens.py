"""Tokens: made, listed, revoked and checked. A secret is shown once; the store has its digest.

Users make and revoke tokens of their own, operators those of all. A token that is made with another
one may do no more and lasts no longer, and ends with it.
"""

from __future__ import annotations

import hashlib
import pwd
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedmate.model import BadInput, NotFound, NotSignedIn
from schedmate.model.access import Token, TokenScope
from schedmate.model.account import account_name
from schedmate.model.legible import one_line
from schedmate.service.usecases.audit import record_act

if TYPE_CHECKING:
    from schedmate.service.visibility import Viewer
    from schedmate.store import Store

PREFIX = "smt_"
"""By which a token is recognised, and redacted where it turns up in a log."""
LONGEST_NAME = 100
MOST_DAYS, MOST_OWN_DAYS = 3650.0, 365.0
"""How long a token may last: one that an operator makes, and one that users make for themselves."""
_MOST_OWN = 50
"""Tokens that a user may have: valid ones, and those of the last day."""
_BYTES = 32
_DAY_S = 86_400.0
_USED_EVERY_S = 3600.0
USER_NAME = "[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}"
_USER = re.compile(USER_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    user: str = ""
    """Whose jobs it shows; empty: those of the asker."""
    scope: TokenScope = "user"
    name: str = ""
    days: float = 90.0


def make_token(
    store: Store, viewer: Viewer, wanted: TokenRequest, *, of_proxy: bool = False
) -> tuple[Token, str]:
    """A new token and its secret, where the viewer may have it.

    `of_proxy`: a proxy may know users that this machine does not.
    """
    user = wanted.user or viewer.user
    if not viewer.operator:
        if user != viewer.user or wanted.scope != "user":
            raise NotSignedIn("only operators make tokens for others, or such as show all jobs")
        if wanted.days > MOST_OWN_DAYS:
            raise BadInput(f"a token of one's own lasts {MOST_OWN_DAYS:.0f} days at most")
        if _count(store, user) >= _MOST_OWN:
            raise BadInput(f"{user} has {_MOST_OWN} tokens already; revoke some, or wait a day")
    unknown = "" if of_proxy or user == viewer.user else unknown_user(store, user)
    if unknown:
        raise BadInput(unknown)
    return create_token(
        store,
        user,
        scope=wanted.scope,
        name=wanted.name,
        days=wanted.days,
        by=viewer.user,
        parent=viewer.token,
    )


def unknown_user(store: Store, user: str) -> str:
    """A sentence about a name that may be misspelt; empty where it is an account's or has runs."""
    try:
        pwd.getpwnam(user)
    except KeyError:
        if not store.page_of_runs(user=user, limit=1, offset=0):
            return f"no account of this machine is called {user!r}, and no job was ever {user}'s"
    return ""


def create_token(
    store: Store,
    user: str,
    *,
    scope: TokenScope = "user",
    name: str = "",
    days: float | None,
    by: str | None = None,
    parent: Token | None = None,
) -> tuple[Token, str]:
    """`parent` is the token that was shown for it; the new one does not outlast it."""
    if not _USER.fullmatch(user):
        raise BadInput(f"{user!r} is no name of a user")
    if len(name) > LONGEST_NAME:
        raise BadInput(f"a token's name has {LONGEST_NAME} characters at most")
    one_line(name)
    secret = PREFIX + secrets.token_urlsafe(_BYTES)
    now = time.time()
    ends = [] if days is None else [now + days * _DAY_S]
    if parent is not None and parent.expires_at is not None:
        ends.append(parent.expires_at)
    token = Token(
        id=secrets.token_hex(4),
        user=user,
        scope=scope,
        name=name,
        created_at=now,
        created_by=account_name() if by is None else by,
        expires_at=min(ends, default=None),
        parent="" if parent is None else parent.id,
    )
    store.keep_token(token, digest_of(secret))
    detail = f"{scope} token of {user} {name}".strip()
    record_act(store, "create a token", f"token {token.id}", detail, user=token.created_by)
    return token, secret


def tokens_seen(store: Store, viewer: Viewer) -> list[Token]:
    """The viewer's own, or all for operators; the newest first, also those that have ended."""
    return [one for one in reversed(store.tokens()) if viewer.may_read(one.user)]


def revoke_seen(store: Store, viewer: Viewer, token_id: str) -> Token:
    """One of the viewer's own, or any for operators; those of others are not there."""
    if not any(one.id == token_id for one in tokens_seen(store, viewer)):
        raise _unknown(token_id)
    return revoke_token(store, token_id, by=viewer.user)


def revoke_token(store: Store, token_id: str, *, by: str | None = None) -> Token:
    """With those that were made with it; at once, as the daemon looks each time one is shown."""
    now = time.time()
    if not store.change_token(token_id, revoked_at=now):
        raise _unknown(token_id)
    record_act(store, "revoke a token", f"token {token_id}", user=by)
    known = store.tokens()
    ended = {token_id}
    for one in known:  # the oldest first: what a token made comes after it
        if one.parent in ended:
            ended.add(one.id)
            store.change_token(one.id, revoked_at=now)
    return next(one for one in store.tokens() if one.id == token_id)


def _unknown(token_id: str) -> NotFound:
    return NotFound(f"there is no token {token_id}; schedmate token list shows them")


def _count(store: Store, user: str) -> int:
    now = time.time()
    return sum(
        one.user == user and (one.is_valid(now) or now - one.created_at < _DAY_S)
        for one in store.tokens()
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

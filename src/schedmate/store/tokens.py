"""Tokens in the store, found by the digest of their secret."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from schedmate.model.access import Token
from schedmate.model.wire import loads
from schedmate.store.bodies import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.store.database import Database


class Tokens(Protocol):
    """Who may ask the daemon from elsewhere; of all schedulers."""

    def keep_token(self, token: Token, digest: str) -> None: ...

    def token_of(self, digest: str) -> Token | None:
        """Also one that is no longer valid."""

    def tokens(self) -> Sequence[Token]:
        """Oldest first."""

    def change_token(
        self, token_id: str, *, revoked_at: float | None = None, used_at: float | None = None
    ) -> bool:
        """Whether there is one of this id; what is revoked stays so."""

    def drop_tokens(self, *, ended_before: float) -> None:
        """Those without an end stay."""


class TokenTable:
    """Part of the store; see `Tokens`."""

    _db: Database

    def keep_token(self, token: Token, digest: str) -> None:
        self._db.run(
            "INSERT INTO tokens (id, digest, at, body) VALUES (?, ?, ?, ?)",
            (token.id, digest, token.created_at, dumps(token)),
        )

    def token_of(self, digest: str) -> Token | None:
        row = self._db.one("SELECT body FROM tokens WHERE digest = ?", (digest,))
        return None if row is None else loads(Token, row[0])

    def tokens(self) -> list[Token]:
        rows = self._db.rows("SELECT body FROM tokens ORDER BY at, id")
        return [loads(Token, body) for (body,) in rows]

    def change_token(
        self, token_id: str, *, revoked_at: float | None = None, used_at: float | None = None
    ) -> bool:
        with self._db.transaction():
            row = self._db.one("SELECT body FROM tokens WHERE id = ?", (token_id,))
            if row is None:
                return False
            token = loads(Token, row[0])
            changed = replace(
                token,
                revoked_at=token.revoked_at if token.revoked_at is not None else revoked_at,
                used_at=used_at if used_at is not None else token.used_at,
            )
            self._db.run("UPDATE tokens SET body = ? WHERE id = ?", (dumps(changed), token_id))
            return True

    def drop_tokens(self, *, ended_before: float) -> None:
        with self._db.transaction():
            old = [
                token.id
                for token in self.tokens()
                if token.ended_at is not None and token.ended_at < ended_before
            ]
            for token_id in old:
                self._db.run("DELETE FROM tokens WHERE id = ?", (token_id,))

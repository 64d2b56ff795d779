"""Tokens, by which people and programs prove who they are, and what users want to hear of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.job import JobId

TokenScope = Literal["user", "operator"]
NoticeKind = Literal["failed", "hung", "limit", "doomed", "made_way"]
CORRECTION = "correct a diagnosis"
WITHDRAWAL = "withdraw a correction"
"""What the audit trail calls it."""
NOTICE_KINDS: tuple[NoticeKind, ...] = ("failed", "hung", "limit", "doomed", "made_way")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is kept of one: its secret is shown once, and only a digest of it stays."""

    id: str
    user: str
    scope: TokenScope = "user"
    """`user`: the text of this user's jobs alone; `operator`: that of all."""
    name: str = ""
    created_at: float
    created_by: str = ""
    expires_at: float | None = None
    revoked_at: float | None = None
    used_at: float | None = None
    parent: str = ""
    """The token that it was made with, where it was; it ends with that one."""

    @property
    def ended_at(self) -> float | None:
        """When it was revoked or expires, whichever comes first; None: never."""
        ends = [end for end in (self.revoked_at, self.expires_at) if end is not None]
        return min(ends, default=None)

    def is_valid(self, now: float) -> bool:
        return self.revoked_at is None and (self.ended_at is None or now < self.ended_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What one user is to hear of, and by which of the site's channels."""

    user: str
    kinds: tuple[NoticeKind, ...] = NOTICE_KINDS
    channels: tuple[str, ...] = ()
    mail: str = ""
    """Where to; empty: the user's name at the site's domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that happened to one attempt of a job; there is one of a kind."""

    job_id: JobId
    attempt: int
    kind: NoticeKind
    user: str
    at: float
    text: str
    """One line: what happened, and why."""
    details: tuple[str, ...] = ()

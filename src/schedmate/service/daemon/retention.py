"""Drops what is older than the site wants it kept, a little after each look."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedmate.model import array_of
from schedmate.service.records.event_log import STARTED
from schedmate.store import Keep

if TYPE_CHECKING:
    from collections.abc import Collection

    from schedmate.config import Settings
    from schedmate.model import JobId
    from schedmate.store import Store

_REST_S = 3600.0
_ENDED_TOKENS_S = 90 * 86_400.0
"""So long a token is listed after its end; who made and revoked it stays in the audit trail."""


class Retention:
    """A small step after each look; a rest of an hour when there was nothing left to drop."""

    def __init__(self, store: Store, settings: Settings, listed: Collection[JobId]) -> None:
        """`listed`: the jobs that the scheduler lists, at any time."""
        kept = settings.retention
        self._store, self._listed = store, listed
        self._keep = Keep(days=kept.days, bytes=kept.megabytes * 1e6)
        self._due = 0.0

    def step(self, now: float) -> None:
        if time.monotonic() < self._due:
            return
        arrays = {array for one in self._listed if (array := array_of(one)) is not None}
        spared = {*self._listed, *arrays}
        if not self._store.drop_old(self._keep, head=STARTED, listed=spared, now=now):
            self._store.drop_tokens(ended_before=now - _ENDED_TOKENS_S)
            self._due = time.monotonic() + _REST_S

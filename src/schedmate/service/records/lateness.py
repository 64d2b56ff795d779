"""By how much each waiting job is later because of SchedMate, as the daemon counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.model.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.model import JobId
    from schedmate.store import Store

_NAME = "late/1"
_APART_S = 60.0


class LatenessKept:
    """Written a minute apart, where it has changed: all of a queue in one row."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[JobId, int] | None = None
        self._at = float("-inf")

    def is_due(self, now: float) -> bool:
        return now - self._at >= _APART_S

    def keep(self, late_s: Mapping[JobId, float], now: float) -> None:
        self._at = now
        rounded = {job_id: round(late) for job_id, late in late_s.items()}
        if rounded != self._kept:
            self._store.keep_learnt(_NAME, dumps(rounded), at=now)
            self._kept = rounded


def all_lateness(store: Store) -> dict[str, int]:
    """In seconds, of the jobs that wait; of those that are not in it nothing is known."""
    body = store.learnt(_NAME)
    try:
        return {} if body is None else loads(dict[str, int], body)
    except BadInput:  # of another version
        return {}

"""A bound on what is done in an hour, whatever the decision engine wants."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import Action
    from schedmate.store import Decisions

ACTIONS_AN_HOUR = 200
_BOUNDED = frozenset({"requeue", "preempt", "cancel", "hold", "drain"})
"""What interferes with jobs and nodes; nice numbers have a budget of their own."""
_HOUR_S = 3600.0
_log = logging.getLogger("schedmate.actions")


class HourlyBound:
    """Counts across restarts: what a daemon before this one did is in the store."""

    def __init__(self, decisions: Decisions, most: int) -> None:
        self._decisions = decisions
        self._most = most
        self._times: deque[float] | None = None
        self._warned_at = float("-inf")

    @property
    def words(self) -> str:
        return f"the bound of {self._most} actions an hour is reached"

    def take(self, action: Action, now: float) -> bool:
        """Whether it may be done now."""
        if action.kind not in _BOUNDED:
            return True
        times = self._times = self._done_before(now) if self._times is None else self._times
        while times and times[0] <= now - _HOUR_S:
            times.popleft()
        if len(times) < self._most:
            times.append(now)
            return True
        if now - self._warned_at >= _HOUR_S:
            self._warned_at = now
            _log.warning("%s: requeues wait, holds and drains are left", self.words)
        return False

    def _done_before(self, now: float) -> deque[float]:
        records = self._decisions.actions(state="done", since=now - _HOUR_S)
        return deque(
            sorted(
                one.at
                for one in records
                if one.action.kind in _BOUNDED and now - _HOUR_S < one.at <= now
            )
        )

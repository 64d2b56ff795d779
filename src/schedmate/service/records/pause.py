"""Whether an operator has paused SchedMate: it goes on watching and does nothing.

Kept in the store, so that it outlives daemons and is the same for two of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model.wire import dumps, loads

if TYPE_CHECKING:
    from schedmate.store import Store

_NAME = "pause of actions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    by: str
    since: float
    until: float | None = None
    """When it ends by itself; null: when an operator ends it."""


def keep_pause(store: Store, pause: Pause | None, *, at: float) -> None:
    """None ends it."""
    store.keep_learnt(_NAME, "" if pause is None else dumps(pause), at=at)


def pause_of(store: Store, now: float) -> Pause | None:
    """The one that lasts, if there is one."""
    kept = store.learnt(_NAME)
    pause = loads(Pause, kept) if kept else None
    return None if pause is None or now >= (pause.until or float("inf")) else pause

"""Draining nodes: at most once for the same failures, read back, never another's drain."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedulerError, SchedulerUnreachable
from schedmate.schedulers.base import DrainsNodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Action, NodeState
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_log = logging.getLogger("schedmate.actions")


def drain_reason(action: Action) -> str:
    """What Slurm keeps as the reason: by it a drain is known to be ours."""
    return f"schedmate: {action.why}"


class NodeActions:
    def __init__(self, scheduler: Scheduler, store: Store) -> None:
        self._scheduler = scheduler
        self._store = store

    def drain(self, action: Action, now: float) -> None:
        """One that was written down just now."""
        if not isinstance(self._scheduler, DrainsNodes):
            return
        try:
            self._scheduler.drain(action.node, drain_reason(action))
        except SchedulerUnreachable as error:
            _log.warning("%s waits: %s", action.key, error, extra=action.about)
        except (SchedulerError, NotFound) as error:
            self._store.settle(action, "failed", at=now, note=str(error))
        else:
            _log.warning("%s: %s", action.key, action.why, extra=action.about)
            self.settle([action], now)

    def settle(self, actions: Sequence[Action], now: float) -> None:
        """By how the nodes are. One that is not drained for our reason is never drained again: an
        operator may have resumed it since."""
        if not actions:
            return
        states: dict[str, NodeState] = {
            one.name: one for one in self._scheduler.nodes([action.node for action in actions])
        }
        for action in actions:
            state = states.get(action.node)
            ours = state is not None and state.reason == drain_reason(action)
            if ours and state is not None and state.condition == "drain":
                self._store.settle(action, "done", at=now)
            else:
                self._store.settle(action, "failed", at=now, note="interrupted; it is not drained")

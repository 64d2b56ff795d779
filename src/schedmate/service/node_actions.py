"""What came of an action is written down and logged. Draining nodes: at most once for the same
failures, read back, never another's drain."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model import NotFound, SchedulerError, SchedulerUnreachable
from schedmate.schedulers.base import DrainsNodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Action, ActionState, NodeState
    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_log = logging.getLogger("schedmate.actions")


def drain_reason(action: Action) -> str:
    """What Slurm keeps as the reason: by it a drain is known to be ours."""
    return f"schedmate: {action.why}"


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    state: ActionState
    note: str = ""


def settle(store: Store, action: Action, outcome: ActionOutcome, now: float) -> None:
    """Write down what came of an action, in the log as well: one line each."""
    store.settle(action, outcome.state, at=now, note=outcome.note)
    about, note = {**action.about, "outcome": outcome.state}, outcome.note
    if outcome.state == "done":
        level = logging.WARNING if action.kind == "drain" else logging.INFO
        why = "; ".join(filter(None, (action.why, note)))
        _log.log(level, "%s: %s", action.key, why, extra=about)
    elif outcome.state == "failed":
        _log.warning("%s was not carried out: %s", action.key, note or action.why, extra=about)


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
            settle(self._store, action, ActionOutcome("failed", str(error)), now)
        else:
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
                settle(self._store, action, ActionOutcome("done"), now)
            else:
                outcome = ActionOutcome("failed", "interrupted; it is not drained")
                settle(self._store, action, outcome, now)

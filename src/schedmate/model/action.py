"""What the decision engine decided, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.decision import DecisionReason
from schedmate.model.job import JobId

ActionKind = Literal[
    "set_nice",
    "set_time_limit",
    "set_time_min",
    "set_dependency",
    "requeue",
    "preempt",
    "share",
    "cancel",
    "hold",
    "release",
    "drain",
    "warn",
    "leave",
]
"""The last two ask nothing of the scheduler: a warning, and the decision to do nothing."""
ActionState = Literal["intended", "done", "observed", "failed", "noted"]
RevertOutcome = Literal["undone", "would_undo", "cannot"]

_ASKS_NOTHING = ("warn", "leave")
_CHANGES = (
    *("reverted", "overtaken_enough", "at_the_floor", "age_made_up"),
    *("others_started", "others_did_not_start", "hold_unattended"),
)
"""Grounds on which a value is set that may have been decided upon before."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Action:
    """One decision of the engine, carried out at most once.

    `attempt` is the restart count of the run it is about, so that the same decision about a
    later run is another action.
    """

    kind: ActionKind
    job_id: JobId
    """Empty for an action about a node."""
    attempt: int
    why: str
    reason: DecisionReason | None = None
    """The same as data; None in records of versions that kept the sentence alone."""
    value: float | None = None
    exclude_nodes: tuple[str, ...] = ()
    delay_s: float = 0.0
    dependency: str = ""
    """What the job is to wait for anew, in its scheduler's words."""
    provisional: bool = False
    """A place in the queue for as long as the job has not been read."""
    for_jobs: tuple[JobId, ...] = ()
    """The waiting jobs for which a run is queued again and held."""
    beside: JobId = ""
    """The run whose GPUs a waiting job is to share."""
    node: str = ""
    """The node that is to be drained; `value` is then when the newest failure on it ended."""

    @property
    def key(self) -> str:
        """Two actions with the same key are the same action."""
        suffix = "" if self.value is None else f":{self.value:.15g}"
        if self.reason is not None and self.kind in _ASKS_NOTHING:
            suffix = f":{self.reason.code}:{self.reason.failure}"
        if self.reason is not None and self.reason.code in _CHANGES:
            suffix += f":{self.reason.code}"
        if self.reason is not None and self.reason.own_changes:
            suffix += f":{self.reason.own_changes}"
        if self.beside:
            suffix += f":{self.beside}"
        about = f"node {self.node}" if self.node else f"{self.job_id}:{self.attempt}"
        return f"{about}:{self.kind}{suffix}"

    @property
    def about(self) -> dict[str, str]:
        """As fields of a log's line."""
        named = {"job": self.job_id, "node": self.node, "action": self.kind}
        return {name: value for name, value in named.items() if value}

    @property
    def failure(self) -> str:
        """The failure that it was decided for; empty where there is none."""
        return "" if self.reason is None else self.reason.failure

    @property
    def asks_the_scheduler(self) -> bool:
        return self.kind not in _ASKS_NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    action: Action
    state: ActionState
    at: float
    note: str = ""

    @property
    def done(self) -> bool:
        return self.state == "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reverted:
    """One action that was undone, or why it could not be."""

    job_id: JobId = ""
    node: str = ""
    kind: ActionKind
    outcome: RevertOutcome
    text: str

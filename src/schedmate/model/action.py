"""What SchedMate did, or in observe mode would have done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.job import JobId

ActionKind = Literal["set_nice", "set_time_limit", "requeue", "cancel"]
ActionState = Literal["intended", "done", "observed", "failed"]
Mode = Literal["observe", "assist", "act"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One decision of the core, carried out at most once.

    `attempt` is the restart count of the run it is about, so that the same decision about a
    later run is another action.
    """

    kind: ActionKind
    job_id: JobId
    attempt: int
    why: str
    value: float | None = None
    exclude_nodes: tuple[str, ...] = ()
    delay_s: float = 0.0
    provisional: bool = False
    """A place in the queue for as long as the job has not been read."""

    @property
    def key(self) -> str:
        """Two actions with the same key are the same action."""
        suffix = "" if self.value is None else f":{self.value:.15g}"
        return f"{self.job_id}:{self.attempt}:{self.kind}{suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    action: Action
    state: ActionState
    at: float
    note: str = ""

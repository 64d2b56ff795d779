"""Why a decision was taken, as data: what is shown later is worded from it, never parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.advice import Basis, Spread

ReasonCode = Literal[
    "shorter_first",
    "unknown_duration",
    "overtaken_enough",
    "at_the_floor",
    "age_made_up",
    "owner_changed",
    "limit_from_prediction",
    "limit_too_short",
    "limit_unattended",
    "plan_from_prediction",
    "retry_succeeded",
    "worth_a_retry",
    "not_worth_a_retry",
    "retries_used",
    "all_retries_used",
    "unsure",
    "unsure_again",
    "no_further",
    "same_failure",
    "nodes_required",
    "hang_retried",
    "may_only_wait",
    "work_at_risk",
    "before_our_time",
    "left_alone",
    "cannot_succeed",
    "failed_repeatedly",
    "can_succeed",
    "by_a_person",
    "reverted",
    "suspect_node",
    "doomed",
    "limit_extended",
    "carried_on",
    "hold_unattended",
    "makes_way",
    "others_started",
    "others_did_not_start",
    "fits_beside",
    "slow_beside",
    "could_share",
    "alone_again",
]
"""A word for each ground on which the engine decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReason:
    code: ReasonCode
    ordering: str = ""
    predicted_s: Spread | None = None
    basis: Basis = "none"
    user_limit_s: float | None = None
    """The limit that was asked for, where another one is set."""
    failure: str = ""
    """A reason of the failure taxonomy, where a failure was decided upon; of a run that goes on
    for nothing: `nan`, `checkpoint`, `hang`, `repeated`, `limit` or `idle`."""
    retries: int = 0
    """Retries so far that did not get the job further."""
    allowed: int = 0
    """How many of these it may have."""
    waited_s: float = 0.0
    """How long the job has waited: before it was overtaken no more, or before runs that were
    queued again, which its scheduler no longer counts."""
    own_nice: int = 0
    """The owner's own nice number, to which SchedMate's is added."""
    lift: int = 0
    """How far forward all jobs are moved from there before each is set back by its cost."""
    own_changes: int = 0
    """How often the owner has changed it since."""
    step: float | None = None
    """From which a run that makes way goes on, where its log tells."""
    lost_s: float = 0.0
    """What making way costs it: work since its checkpoint, and the restart."""
    served_s: float = 0.0
    """How long it had run until that checkpoint, all runs together."""
    left_s: float | None = None
    """What was left of it then, where its log showed that; of a run that goes on for nothing, to
    its end or its limit."""
    detail: str = ""
    """The prediction's or the diagnosis' own explanation, for people only."""
    shards: int = 0
    """How many parts of a GPU it asked for before it was to ask for others."""
    line: str = ""
    """The line of its log that shows it, where one does."""
    gpus: int = 0
    """How many GPUs a run holds that goes on for nothing, ..."""
    waiting: int = 0
    """... how many jobs wait for GPUs where it runs, ..."""
    waiting_gpus: int = 0
    """... and for how many."""

"""Why a decision was taken, as data: what is shown later is worded from it, never parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedmate.model.advice import Basis, Spread

ReasonCode = Literal[
    "shorter_first",
    "unknown_duration",
    "limit_from_prediction",
    "limit_too_short",
    "limit_unattended",
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
    "work_at_risk",
    "before_our_time",
    "cannot_succeed",
    "failed_repeatedly",
    "can_succeed",
    "by_a_person",
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
    """A reason of the failure taxonomy, where a failure was decided upon."""
    retries: int = 0
    """Retries so far that did not get the job further."""
    allowed: int = 0
    """How many of these it may have."""
    detail: str = ""
    """The prediction's or the diagnosis' own explanation, for people only."""

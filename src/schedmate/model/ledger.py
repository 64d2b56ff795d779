"""What asking a language model has cost so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CallOutcome = Literal[
    "ok", "repaired", "cached", "unavailable", "too_slow", "bad_answer", "over_budget"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCall:
    """One question. `calls` counts the requests it took, repair turns included."""

    at: float
    purpose: str
    model: str
    outcome: CallOutcome
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request as it was sent, and what came back."""

    at: float
    user: str
    """The owner of the job that it is about; empty: it is about none."""
    job_id: str
    purpose: str
    model: str
    endpoint: str
    outcome: str
    """`ok`, or what kept it from being answered."""
    sent: str
    """The body of the request."""
    received: str
    """The text of the answer."""

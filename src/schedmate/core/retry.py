"""From diagnoses to the next step: a small, fixed table with a budget.

Only the reason, its decision and the history of the same job count. No free text does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.model import Diagnosis

_BACKOFF_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPlan:
    again: bool
    why: str
    exclude_nodes: tuple[str, ...] = ()
    delay_s: float = 0.0


def plan_retry(diagnoses: Mapping[int, Diagnosis], attempt: int, *, budget: int) -> RetryPlan:
    """Say whether attempt `attempt + 1` is worth it, given what every attempt died of."""
    diagnosis = diagnoses[attempt]
    decision = diagnosis.decision
    if decision.retry == "no":
        return RetryPlan(again=False, why=decision.why)
    if attempt >= budget:
        return RetryPlan(again=False, why=f"{diagnosis.reason}: all {budget} retries are used up")
    before = diagnoses.get(attempt - 1)
    if before is not None and decision.retry != "resume" and _same_failure(before, diagnosis):
        return RetryPlan(
            again=False, why=f"{diagnosis.reason}: the same failure at the same place again"
        )
    return RetryPlan(
        again=True,
        why=decision.why,
        exclude_nodes=decision.exclude_nodes,
        delay_s=_BACKOFF_S * 2**attempt if decision.retry == "wait" else 0.0,
    )


def _same_failure(before: Diagnosis, now: Diagnosis) -> bool:
    """Same reason, same words, and not on other nodes than before."""
    return (
        before.reason == now.reason
        and before.blame.nodes == now.blame.nodes
        and [e.text for e in before.evidence] == [e.text for e in now.evidence]
    )

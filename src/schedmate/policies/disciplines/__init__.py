"""What policies share: queues, plans of which job ends when, and preemption.

Jobs are numbers in order of submission; of two that are equal otherwise the lower goes first.
"""

from __future__ import annotations

from schedmate.policies.disciplines.planning import (
    UNLIMITED_S,
    FreeProfile,
    PlannedEnds,
    QueueRanks,
    WaitingByPlan,
    plan_s,
)
from schedmate.policies.disciplines.preemption import Preemptor, Ranked, Staged, Stages
from schedmate.policies.disciplines.queues import (
    UNKNOWN_S,
    ExpectedDurations,
    FirstFitQueue,
    StaticOrder,
    StrictQueue,
)

__all__ = [
    "UNKNOWN_S",
    "UNLIMITED_S",
    "ExpectedDurations",
    "FirstFitQueue",
    "FreeProfile",
    "PlannedEnds",
    "Preemptor",
    "QueueRanks",
    "Ranked",
    "Staged",
    "Stages",
    "StaticOrder",
    "StrictQueue",
    "WaitingByPlan",
    "plan_s",
]

"""Which job goes first, and where. Live orderings are in `orderings`; a policy of the simulator is
a class that fulfils `Policy`, declares what it is, and stands in `registry`. The daemon needs
orderings only, so all else is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.lazily import lazily
from schedmate.policies.orderings import (
    DEFAULT_ORDERING,
    ORDERINGS,
    Candidate,
    Ordering,
    nice_of,
    ordering,
)

if TYPE_CHECKING:
    from schedmate.policies.registry import (
        POLICIES,
        Answers,
        ClusterView,
        Fifo,
        FirstFit,
        JobColumns,
        KernelSpec,
        Kind,
        Policy,
        PredictedGittins,
        SiteParameters,
        Sjf,
        Tracked,
    )

__all__ = [
    "DEFAULT_ORDERING",
    "ORDERINGS",
    "POLICIES",
    "Answers",
    "Candidate",
    "ClusterView",
    "Fifo",
    "FirstFit",
    "JobColumns",
    "KernelSpec",
    "Kind",
    "Ordering",
    "Policy",
    "PredictedGittins",
    "SiteParameters",
    "Sjf",
    "Tracked",
    "nice_of",
    "ordering",
]

__getattr__ = lazily(__name__, dict.fromkeys(__all__, "schedmate.policies.registry"))

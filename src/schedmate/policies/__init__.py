"""Which job goes first, and where. Live orderings are in `orderings`; a policy of the simulator is
a class that fulfils `Policy`, declares what it is, and stands in `POLICIES`."""

from __future__ import annotations

from schedmate.policies.attained_service import Gittins, Las, Tiresias
from schedmate.policies.backfill import Conservative, Easy
from schedmate.policies.base import (
    Answers,
    ClusterView,
    JobColumns,
    KernelSpec,
    Kind,
    Policy,
    Tracked,
)
from schedmate.policies.fifo import Fifo, FirstFit
from schedmate.policies.gavel import Gavel
from schedmate.policies.lucid import Lucid
from schedmate.policies.multifactor import Multifactor
from schedmate.policies.orderings import ORDERINGS, Candidate, Ordering, nice_of, ordering
from schedmate.policies.predicted_gittins import PredictedGittins
from schedmate.policies.shortest_first import (
    Qssf,
    Sjf,
    SjfOracle,
    Srsf,
    SrsfOracle,
    Srtf,
    SrtfOracle,
    Ssf,
    SsfOracle,
)
from schedmate.policies.sia import Pollux, Sia

_ALL: tuple[type[Policy], ...] = (
    *(Fifo, FirstFit, Easy, Conservative, Multifactor),
    *(Sjf, Ssf, Qssf, Srtf, Srsf, Tiresias, Las, Gittins, Lucid, Gavel, Pollux, Sia),
    *(SjfOracle, SsfOracle, SrtfOracle, SrsfOracle),
)
POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _ALL}
"""By name; a policy is made anew for each run."""

__all__ = [
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
    "Sjf",
    "Tracked",
    "nice_of",
    "ordering",
]

"""The policies of the simulator. To add one: a file beside this one, its class in `_ALL`."""

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
    SiteParameters,
    Tracked,
)
from schedmate.policies.fifo import Fifo, FirstFit
from schedmate.policies.gavel import Gavel
from schedmate.policies.lucid import Lucid
from schedmate.policies.multifactor import Multifactor
from schedmate.policies.predicted_backfill import EasyLastTwo, EasyLearnt, EasyShortest
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
from schedmate.policies.slurm import Slurm

_ALL: tuple[type[Policy], ...] = (
    *(Fifo, FirstFit, Easy, EasyShortest, Conservative, Multifactor, Slurm),
    *(EasyLastTwo, EasyLearnt),
    *(Sjf, Ssf, Qssf, Srtf, Srsf, Tiresias, Las, Gittins, Lucid, Gavel, Pollux, Sia),
    *(SjfOracle, SsfOracle, SrtfOracle, SrsfOracle),
)
POLICIES: dict[str, type[Policy]] = {policy.name: policy for policy in _ALL}
"""By name; a policy is made anew for each run."""

__all__ = [
    "POLICIES",
    "Answers",
    "ClusterView",
    "Fifo",
    "FirstFit",
    "JobColumns",
    "KernelSpec",
    "Kind",
    "Policy",
    "PredictedGittins",
    "SiteParameters",
    "Sjf",
    "Tracked",
]

"""Clusters that a synthetic trace can be like: published figures, and what was fitted to them.

Shares of states and GPU time by state, mean and median run time, mean GPUs and the longest run are
those of the GPU jobs in `cluster_summary.csv` of AcmeTrace (InternLM, CC-BY-4.0), which has Philly
(Microsoft, ATC'19), Helios (SenseTime, SC'21) and Seren (Shanghai AI Laboratory, NSDI'24). Relative
shares of sizes and widths by state are counted in the cuts of Philly and Helios by DIR-LAB
(CC-BY-4.0) and scaled to the published means; for Acme, whose jobs by size are only a figure, the
shape is assumed. `typical_s`, `spread` and `growth` solve five equations: GPU time of each state,
mean and median.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schedmate.model import JobState

# lowest before dawn, dips at noon and at six, as the papers' figures show
_WORKING_DAY = (
    *(0.8, 0.6, 0.5, 0.4, 0.4, 0.4, 0.4, 0.5, 0.7, 1.1, 1.4, 1.4),
    *(1.0, 1.2, 1.5, 1.6, 1.6, 1.5, 1.1, 1.3, 1.4, 1.4, 1.2, 1.0),
)
# submissions by the hour in the CSV cut of Philly, per mille
_PHILLY_DAY = (
    *(53.1, 41.0, 46.6, 46.0, 29.2, 48.0, 69.7, 87.0, 46.2, 41.9, 42.7, 36.2),
    *(31.2, 29.4, 26.6, 27.0, 36.7, 27.8, 33.4, 30.3, 42.3, 38.2, 47.2, 42.1),
)


@dataclass(frozen=True, slots=True)
class Ending:
    """Jobs that end in one way: log-normal run times, in seconds on one GPU."""

    state: JobState
    share: float
    typical_s: float
    spread: float


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    sizes: Mapping[int, float]
    endings: tuple[Ending, ...]
    growth: float
    """Twice the GPUs, 2 to the power of this times the run time."""
    longest_s: float
    hours: tuple[float, ...]
    same_state: float
    """How often a job of a series ends as the series mostly does."""
    same_time: float
    """How often its run time is like that of the others."""
    users: int
    groups: int


_PHILLY = Profile(
    name="philly",
    sizes={
        1: 0.83666,
        2: 0.02363,
        4: 0.05137,
        8: 0.07562,
        16: 0.01121,
        32: 0.00137,
        64: 0.00011,
        128: 0.00003,
    },
    endings=(
        Ending(JobState.COMPLETED, 0.6046, 790.7, 2.0559),
        Ending(JobState.CANCELLED, 0.0901, 1654.0, 2.795),
        Ending(JobState.FAILED, 0.3053, 485.4, 2.7865),
    ),
    growth=0.6208,
    longest_s=4_240_676,
    hours=_PHILLY_DAY,
    same_state=0.95,
    same_time=0.95,
    users=300,
    groups=15,
)
_HELIOS = Profile(
    name="helios",
    sizes={
        1: 0.69853,
        2: 0.05162,
        4: 0.04948,
        8: 0.14698,
        16: 0.0288,
        24: 0.00493,
        32: 0.00988,
        40: 0.00222,
        48: 0.00367,
        64: 0.00105,
        80: 0.00147,
        128: 0.0007,
        160: 0.00066,
    },
    endings=(
        Ending(JobState.COMPLETED, 0.624, 159.0, 2.5396),
        Ending(JobState.CANCELLED, 0.221, 196.8, 2.8372),
        Ending(JobState.FAILED, 0.155, 136.5, 2.4603),
    ),
    growth=0.4201,
    longest_s=4_320_009,
    hours=_WORKING_DAY,
    same_state=0.85,
    same_time=0.9,
    users=400,
    groups=25,
)
_ACME = Profile(
    name="acme",
    sizes={
        1: 0.6089,
        2: 0.0501,
        4: 0.04946,
        8: 0.23438,
        16: 0.02892,
        32: 0.01428,
        64: 0.00752,
        128: 0.00371,
        256: 0.00183,
        512: 0.00072,
        1024: 0.00018,
    },
    endings=(
        Ending(JobState.COMPLETED, 0.4965, 81.2, 1.5878),
        Ending(JobState.CANCELLED, 0.0749, 1522.9, 1.7739),
        Ending(JobState.FAILED, 0.4286, 59.5, 1.5382),
    ),
    growth=0.5299,
    longest_s=1_209_604,
    hours=_WORKING_DAY,
    same_state=0.85,
    same_time=0.9,
    users=300,
    groups=10,
)

PROFILES = {profile.name: profile for profile in (_PHILLY, _HELIOS, _ACME)}

"""What jobs of the live experiment let be done to them, for the simulator: which resume and when
they save, which are doomed and when that shows, and what their logs say is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.live.arms import GIVE_BACK_S, LEVERS
from bench.live.replayed_jobs import SPEED, ReplayedJob
from schedmate.core import PreemptionLimits
from schedmate.core.doomed_limits import DoomedLimits
from schedmate.core.retry import DecisionLimits
from schedmate.simulator.shell.levering import LeverSide
from schedmate.simulator.shell.tracking import Tracker
from schedmate.simulator.synthetic.levers import JobLevers, Levers

_REPORTS = 10
"""Of a loss and a gradient that are no numbers, until the tracker is sure that they stay so."""


def with_levers(limits: DecisionLimits) -> DecisionLimits:
    """As the live daemon's settings have them."""
    usual = PreemptionLimits()
    preemption = replace(
        usual,
        after_s=usual.after_s / SPEED,
        ends_soon_s=usual.ends_soon_s / SPEED,
        give_back_s=GIVE_BACK_S,
    )
    return replace(limits, preemption=preemption, doomed=DoomedLimits(after_s=doomed_s()))


def doomed_s() -> float:
    return 60.0 * float(LEVERS["SCHEDMATE_DOOMED__MINUTES"])


def lever_side(jobs: Sequence[ReplayedJob], look_s: float, restart_s: float) -> LeverSide:
    projects = sorted({job.project for job in jobs})
    code = np.array([projects.index(job.project) for job in jobs])
    resumable = np.array([job.resumes for job in jobs])
    none, zero = np.zeros(len(jobs), dtype=bool), np.zeros(len(jobs))
    levers = JobLevers(
        code=code,
        resumable=resumable,
        every_s=np.array([job.saves_every_s for job in jobs]),
        shareable=none,
        memory=zero,
        utilization=zero,
        sign_s=np.array([sign_s(job) for job in jobs]),
        consents=~none,
        proves=none,
        seen=Counter(dict.fromkeys(code[resumable].tolist(), 1)),
        measured=frozenset(),
        seed=1,
    )
    used = Levers(resumable=float(resumable.any()), doomed=1.0)
    return LeverSide(used, levers, look_s=look_s, restart_s=restart_s, doomed_s=doomed_s())


def sign_s(job: ReplayedJob) -> float:
    """Seconds of its run after which it is known to be in vain."""
    if job.fate != "doomed":
        return float("inf")
    return job.breaks_at_s + _REPORTS * job.step_s


class Logs(Tracker):
    """What their logs say is left, from the second line on."""

    def __init__(self, jobs: Sequence[ReplayedJob], overheads: Sequence[float]) -> None:
        self._whole = [job.sound_s + more for job, more in zip(jobs, overheads, strict=True)]
        self._first_line = [2 * job.step_s for job in jobs]
        self._every = [job.step_s for job in jobs]

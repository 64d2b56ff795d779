"""The Metric Tracker in a simulation: what a running job's log says of its end."""

from __future__ import annotations

import math

import numpy as np

from schedmate.policies.foreseen import Tracked
from schedmate.simulator.overlay import Meaning

SPREAD = 0.03
"""How far remaining times are off (standard deviation of the logarithm), as `bench/tracker_eta.py`
measures it on real logs from a tenth of the run on."""


class Tracker:
    """Knows where a run is headed once its log has said something; that it will fail or be
    cancelled before it gets there, nobody has written yet."""

    def __init__(self, meaning: Meaning, *, seed: int) -> None:
        dice = np.random.default_rng([seed, len(meaning.planned_s)])
        off = dice.lognormal(0.0, SPREAD, len(meaning.planned_s))
        self.tracked = Tracked(meaning.log_every_s, meaning.planned_s * off)
        self._planned = self.tracked.whole_s.tolist()
        self._first_line = self.tracked.since_s.tolist()

    def remaining(self, job: int, done_s: float) -> float:
        if done_s < self._first_line[job]:
            return math.nan
        return float(max(self._planned[job] - done_s, 0.0))

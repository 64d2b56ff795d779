"""What simulated jobs' logs show: where a run is headed, and when it falls silent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from schedmate.model import Activity, Progress, Spread
from schedmate.model.advice import Z90
from schedmate.policies import Tracked
from schedmate.simulator.synthetic import SyntheticWorkload
from schedmate.simulator.traces.columns import Floats, TraceColumns
from schedmate.tracker.forecasting.rhythm import Rhythm

TRACKED_SIGMA = 0.03
"""How far remaining times are off (standard deviation of the logarithm), measured on real logs from
a tenth of the run on (`bench/accuracy/remaining_time.py`)."""
IDLE_THOUGH_SOUND = 1 / 250
"""The share of jobs of more than half an hour that pause without a sign of life though they are
sound: none of 250 real logs was called hung, so it may be one."""
_PAUSE_S: Final = (2400.0, 7200.0)
"""Between which such a pause lasts. Assumed."""
_LONG_S = 1800.0
LOOK_S = 30.0
"""How often the daemon looks at a Slurm and at the logs of its jobs: `slurm.poll_s`."""


class Tracker:
    """Knows where a run is headed once its log shows progress. That it will fail or be cancelled
    before it gets there is in no log yet."""

    def __init__(self, workload: SyntheticWorkload, *, seed: int) -> None:
        rng = np.random.default_rng([seed, len(workload.planned_s)])
        off = rng.lognormal(0.0, TRACKED_SIGMA, len(workload.planned_s))
        self.tracked = Tracked(workload.log_every_s, workload.planned_s * off)
        self._whole = self.tracked.whole_s.tolist()
        self._first_line = self.tracked.since_s.tolist()
        self._every = workload.log_every_s.tolist()

    def remaining(self, job: int, done_s: float) -> float:
        if done_s < self._first_line[job]:
            return math.nan
        return float(max(self._whole[job] - done_s, 0.0))

    def progress(
        self, job: int, done_s: float, *, now: float, began: float, spoke_at: float | None
    ) -> Progress:
        """As the live tracker reports it; `spoke_at` is when a job that is silent last wrote."""
        left = self.remaining(job, done_s)
        eta = None
        if not math.isnan(left):
            off = math.exp(Z90 * TRACKED_SIGMA)
            eta = Spread(left / off, left, left * off)
        rhythm = self._rhythm(job, began, now if spoke_at is None else spoke_at)
        return Progress(
            log="",
            phase="training",
            elapsed_s=now - began,
            eta_s=eta,
            silence=rhythm.silence(now, None),
        )

    def _rhythm(self, job: int, began: float, spoke_at: float) -> Rhythm:
        """A log with a line every so often, looked at as often as the daemon does."""
        every, span = self._every[job], spoke_at - began
        lines = int(span / every) if every > 0 else 0
        return Rhythm(
            floor_s=0.0,
            started_at=began,
            wrote_at=spoke_at if lines else None,
            gaps=max(0, lines - 1),
            longest_s=every,
            second_s=every,
            looks=int(span / max(every, LOOK_S)),
            first_at=began + every,
        )


@dataclass(frozen=True, eq=False, slots=True)
class Silences:
    """When jobs write nothing and compute nothing: from which second of their work on, for how
    long; infinite and 0 where they never do."""

    begin_s: Floats
    length_s: Floats

    @classmethod
    def drawn(cls, columns: TraceColumns, workload: SyntheticWorkload, *, seed: int) -> Silences:
        """Hangs at the end of jobs that hang, and pauses of a few jobs that are sound."""
        count = len(columns)
        rng = np.random.default_rng([seed, count, 1])
        long = columns.duration > _LONG_S
        pauses = (rng.random(count) < IDLE_THOUGH_SOUND) & long & (workload.silent_s <= 0)
        lasts = np.minimum(rng.uniform(*_PAUSE_S, count), 0.9 * columns.duration)
        begin = rng.random(count) * (columns.duration - lasts)
        hangs = workload.silent_s > 0
        return cls(
            np.where(
                hangs,
                columns.duration - workload.silent_s,
                np.where(pauses, begin, np.inf),
            ),
            np.where(hangs, workload.silent_s, np.where(pauses, lasts, 0.0)),
        )


IDLE: Final = Activity(cpu_s=0.0, gpu=0.0)
"""What is measured of a silent job at any time: it uses no CPU time and no GPU."""

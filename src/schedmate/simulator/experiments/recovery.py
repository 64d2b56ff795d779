"""What is lost when a run is interrupted, and what owners do who have to notice it themselves."""

from __future__ import annotations

import numpy as np

from schedmate.simulator.synthetic import JobLevers, SyntheticWorkload
from schedmate.simulator.traces.columns import Floats, TraceColumns

SEEN_BY_HAND_S = 2 * 3600.0
"""Half of the users come back within that time. Assumed."""
_BY_HAND_SIGMA = 1.2
_CHECKPOINT_S = 3600.0
"""Where a job's checkpoints are unknown."""
HANGS_AGAIN = 0.5
"""The share of hangs that come again at the same place when the job is run again. Assumed."""


class Owners:
    """They notice hours later, and submit again; the job goes on from its last checkpoint.

    A job that hung and is run again either hangs again or is done where the trace left off: what
    it would have done beyond that is not in the trace.
    """

    def __init__(
        self,
        columns: TraceColumns,
        workload: SyntheticWorkload | None,
        levers: JobLevers | None = None,
        *,
        seed: int,
    ) -> None:
        count = len(columns)
        every = np.full(count, _CHECKPOINT_S) if workload is None else workload.checkpoint_every_s
        if levers is not None:
            every = np.where(levers.resumable, levers.every_s, every)
        silent = np.zeros(count) if workload is None else workload.silent_s
        rng = np.random.default_rng([seed, count])
        self._every_s = every.tolist()
        self._whole_s = columns.duration.tolist()
        self._sound_s: list[float] = (columns.duration - silent).tolist()
        self._by_hand_s: Floats = SEEN_BY_HAND_S * rng.lognormal(0.0, _BY_HAND_SIGMA, count)
        self._again = rng.random(count) < HANGS_AGAIN

    def restarts_with(self, job: int, done_s: float) -> tuple[float, float]:
        sound, every = self._sound_s[job], self._every_s[job]
        kept = float(min(done_s, sound) // every * every) if every > 0 else 0.0
        hung = done_s > sound
        return (sound if hung and not self._again[job] else self._whole_s[job]), kept

    def by_hand_s(self, job: int) -> float:
        return float(self._by_hand_s[job])

"""Least attained service in many queues: Tiresias' idea without a threshold to tune.

Ten queues by GPU-seconds held, each reaching four times as far as the one before it; within a
queue the order is that of `Seen.place`. On traces whose jobs differ by five orders of magnitude
this is far stronger than two queues, so it is the baseline to beat.
"""

from __future__ import annotations

import numpy as np

from schedmate.policies.disciplines import Staged, Stages, Standing
from schedmate.policies.world import Seen

_FIRST_GPU_S = 60.0
_GROWTH = 4.0
_BOUNDS = _FIRST_GPU_S * _GROWTH ** np.arange(9)


class Las(Staged):
    name = "las"

    def stages(self, jobs: Seen) -> Stages:
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        standing = np.asarray(Standing(jobs.place).of, dtype=np.float64)
        queues = np.arange(len(_BOUNDS) + 1) * float(len(gpus))
        return Stages(
            bounds=_BOUNDS[np.newaxis, :] / gpus[:, np.newaxis],
            keys=queues[np.newaxis, :] + standing[:, np.newaxis],
        )

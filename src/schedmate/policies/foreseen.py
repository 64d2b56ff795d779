"""By the Gittins index of what is foretold of each job: SchedMate beside a policy that preempts.

A prediction is a distribution, and how long a job has run says where in it the job must be. The
index is the best rate at which a job may be expected to end from here; whoever has the highest for
the fewest GPUs goes first. A sure prediction makes this shortest remaining service first; one that
says little makes it least attained service; a job that outlives its prediction sinks by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.disciplines import UNKNOWN_S, Staged, Stages
from schedmate.policies.gittins_rank import AGES, ranks_of
from schedmate.policies.world import Seen

_NO_IDEA = 2.0
"""The doubt about a job of which nobody says anything."""


class Foreseen(Staged):
    name = "foreseen"

    def stages(self, jobs: Seen) -> Stages:
        expected = _or(jobs.expected, UNKNOWN_S)
        tenths = np.round(_or(jobs.doubt, _NO_IDEA), 1)
        gpus = np.asarray(jobs.gpus, dtype=np.float64)
        bounds = np.empty((len(gpus), AGES))
        keys = np.empty((len(gpus), AGES + 1))
        for doubt in np.unique(tenths).tolist():
            alike = tenths == doubt
            ranks = ranks_of(doubt)
            bounds[alike] = expected[alike, np.newaxis] * ranks.ages
            keys[alike] = (expected[alike] * gpus[alike])[:, np.newaxis] * ranks.ranks
        return Stages(bounds, keys)


def _or(said: object, otherwise: float) -> NDArray[np.float64]:
    values = np.asarray(said, dtype=np.float64)
    return np.where(np.isnan(values), otherwise, values)

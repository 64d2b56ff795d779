"""By the Gittins index of what is foretold of each job: SchedMate beside a policy that preempts.

A prediction is a distribution, and how long a job has run says where in it the job must be. The
index is the best rate at which a job may be expected to end from here; whoever has the highest for
the fewest GPUs goes first. A sure prediction makes this shortest remaining service first; one that
says little makes it least attained service; a job that outlives its prediction sinks by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedmate.policies.disciplines import UNKNOWN_S, Staged, Stages
from schedmate.policies.gittins_rank import AGES, ranks_of
from schedmate.policies.world import Seen

Array = NDArray[np.float64]

_NO_IDEA = 2.0
"""The doubt about a job of which nobody says anything."""
_NEVER_NOTHING = 0.02
"""The share of a tracked run that is left at least: it ends when it ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Tracked:
    """What logs will say: when, in seconds of running, and how long the whole run takes."""

    since_s: Array
    whole_s: Array


class Foreseen(Staged):
    name = "foreseen"

    def __init__(self, tracked: Tracked | None = None) -> None:
        self._tracked = tracked

    def stages(self, jobs: Seen) -> Stages:
        foretold = self._foretold(jobs)
        if self._tracked is None:
            return foretold
        return _tracked(foretold, self._tracked, np.asarray(jobs.gpus, dtype=np.float64))

    def _foretold(self, jobs: Seen) -> Stages:
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


def _tracked(foretold: Stages, tracked: Tracked, gpus: Array) -> Stages:
    """A stage more, from the first line of the log on; from there on nobody takes longer than his
    log says, though he may well end before."""
    since = tracked.since_s[:, np.newaxis]
    bounds = np.sort(np.hstack([foretold.bounds, since]), axis=1)
    starts = np.insert(bounds, 0, 0.0, axis=1)
    from_log = starts >= since
    stage = np.arange(starts.shape[1]) - (starts > since)
    stage[from_log & (starts == since)] -= 1
    keys = np.take_along_axis(foretold.keys, np.maximum(stage, 0), axis=1)
    whole = tracked.whole_s[:, np.newaxis]
    left = np.maximum(whole - starts, _NEVER_NOTHING * whole) * gpus[:, np.newaxis]
    return Stages(bounds, np.where(from_log, np.minimum(keys, left), keys))


def _or(said: object, otherwise: float) -> Array:
    values = np.asarray(said, dtype=np.float64)
    return np.where(np.isnan(values), otherwise, values)

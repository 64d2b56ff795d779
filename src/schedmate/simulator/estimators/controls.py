"""Controls: other predictors in the place of SchedMate's, through the same ordering.

What semantic predictions are worth is the distance from the best of these to `semantic`, and from
there to `oracle`. Much of a gain over an unmodified scheduler is the order itself: `constant` and
`permuted` show how much.
"""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.estimators.history import Known, owners, spread_around
from schedmate.simulator.synthetic.levers import Levers
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns

CONTROLS = {
    "constant": "every job is predicted alike, so only its GPUs tell",
    "permuted": "SchedMate's predictions, permuted among the jobs",
    "last_two": "the mean of the user's last two runs (Tsafrir 2007)",
    "history": "the rolling mean of the user's jobs of a similar name or size (Helios, SC'21)",
    "qssf": "a tenth of that, nine tenths of boosted trees on the request (QSSF, SC'21)",
    "site_model": "SchedMate's model of user, name and request, without any code",
    "semantic": "SchedMate's own predictions, from code and history",
    "oracle": "the true run times",
}
"""Each with what it is."""
LAS, BLIND = "las", "blind"
LEVER_CONTROLS = {
    LAS: "no prediction at all: the run that has run longest makes way (least attained service)",
    BLIND: "SchedMate's own, but runs make way at any moment and lose what they did since saving",
}
"""Where runs make way for others."""
HISTORY = ("last_two", "history", "qssf", "site_model")
"""Those that a site can have without reading any code."""
_QUANTILES = (0.1, 0.5, 0.9)


def controls_of(levers: Levers) -> dict[str, str]:
    """All of a run in which these levers are used."""
    return {**CONTROLS, **LEVER_CONTROLS} if levers.resumable else CONTROLS


def constant(columns: TraceColumns) -> Estimates:
    """The quantiles of all run times, for every job."""
    quantiles = np.quantile(columns.duration, _QUANTILES)
    low, middle, high = (np.full(len(columns), each) for each in quantiles)
    return Estimates(low, middle, high, np.zeros(len(columns)), "constant")


def permuted(estimates: Estimates, *, seed: int) -> Estimates:
    """Each job gets what was predicted of another; all of them are used once."""
    places = np.random.default_rng([seed, len(estimates.p50)]).permutation(len(estimates.p50))
    basis = None if estimates.basis is None else [estimates.basis[place] for place in places]
    low, middle, high = (each[places] for each in (estimates.p10, estimates.p50, estimates.p90))
    return Estimates(low, middle, high, estimates.cost_s, "permuted", basis)


class LastTwo:
    """The mean of an owner's last two run times; of a new one's, of anyone's."""

    def __init__(self, owner: Ints) -> None:
        self._owner = owner.tolist()
        self._of_owner: defaultdict[int, deque[float]] = defaultdict(_two)
        self._of_all = _two()

    def learn(self, job: int, duration_s: float) -> None:
        self._of_owner[self._owner[job]].append(duration_s)
        self._of_all.append(duration_s)

    def recall(self, job: int) -> float:
        newest = self._of_owner.get(self._owner[job], self._of_all)
        return sum(newest) / len(newest) if newest else float("nan")


def _two() -> deque[float]:
    return deque(maxlen=2)


def last_two(columns: TraceColumns, known_at: Floats) -> Estimates:
    """Of a user without two runs the last one; of a new user the last two of anyone."""
    known = Known.of(columns, known_at)
    means, durations = LastTwo(owners(columns)), columns.duration.tolist()
    middle, learnt = np.full(len(columns), np.nan), 0
    for job, count in enumerate(known.at_submission.tolist()):
        for ended in known.order[learnt:count].tolist():
            means.learn(ended, durations[ended])
        learnt = count
        middle[job] = means.recall(job)
    low, high = spread_around(middle, columns, known)
    return Estimates(low, middle, high, np.zeros(len(columns)), "last_two")

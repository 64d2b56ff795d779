"""Predictors of run times. To add one: a function, and its line in `ESTIMATORS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schedmate.simulator.estimators import boosted, controls, history
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.traces.columns import Floats, TraceColumns

Estimator = Callable[[TraceColumns, Floats], Estimates]
"""From the jobs and the times at which each one's run time is known: predictions at submission.

At the submission of a job only those may be learnt from that are known before it.
"""

ESTIMATORS: Mapping[str, Estimator] = {
    "history": history.estimate,
    "qssf": boosted.qssf,
    "ebm": boosted.ebm,
    "last_two": controls.last_two,
}

__all__ = ["ESTIMATORS", "Estimator"]

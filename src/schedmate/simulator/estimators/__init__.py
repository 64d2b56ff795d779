"""Who says how long a job will run, one file each. To add one: its line in `ESTIMATORS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.estimates import Estimates
from schedmate.simulator.estimators import ebm, qssf

Estimator = Callable[[Columns, Floats], Estimates]
"""From the jobs and the times at which each one's run time is known: what is said at submission.

At the submission of a job only those may be learnt from that are known before it.
"""

ESTIMATORS: Mapping[str, Estimator] = {"qssf": qssf.estimate, "ebm": ebm.estimate}

__all__ = ["ESTIMATORS", "Estimator"]

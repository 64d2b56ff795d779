"""What a policy is shown of a trace."""

from __future__ import annotations

import numpy as np

from schedmate.policies import Seen
from schedmate.policies.world import PLACE_PER_NICE
from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.estimates import Estimates

_NINE_TENTHS = 1.2816
"""Standard deviations from the middle to the ninth tenth."""


def seen_of(columns: Columns, estimates: Estimates, nice: Floats | None = None) -> Seen:
    place = columns.submit if nice is None else columns.submit + PLACE_PER_NICE * nice
    return Seen(
        submit=columns.submit.tolist(),
        gpus=columns.gpus.tolist(),
        user=columns.user.codes.tolist(),
        group=columns.group.codes.tolist(),
        name=columns.name.codes.tolist(),
        limit=columns.limit.tolist(),
        expected=estimates.p50.tolist(),
        planned=columns.limit.tolist(),
        place=place.tolist(),
        doubt=doubt(estimates).tolist(),
    )


def doubt(estimates: Estimates) -> Floats:
    """The standard deviation of the logarithm that p10 and p90 speak of."""
    low, high = np.maximum(estimates.p10, 1.0), np.maximum(estimates.p90, 1.0)
    return np.asarray(np.log(high / low) / (2 * _NINE_TENTHS))

"""Time limits for traces that have none: backfilling can not do without.

Drawn as users choose them on ThetaGPU (22,606 jobs): a quarter ran into its limit, half asked for
less than 6.8 times what they ran, a quarter for more than 60 times; and in round figures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from schedmate.simulator.columns import Columns

LIMITS_DRAWN = "jobs without a time limit were given one as users choose them: mostly far too long"

_SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
_FACTORS = (1.0, 1.0, 6.8, 60.0, 200.0, 200.0)
_HOUR_S = 3600.0
ROUND_S = (
    np.array([1 / 6, 1 / 3, 0.5, 1, 2, 4, 6, 8, 12, 24, 48, 72, 168, 336, 720, 2160]) * _HOUR_S
)


def with_limits(columns: Columns, *, seed: int) -> Columns:
    """The same jobs; those without a limit have got one that they keep."""
    none = np.isinf(columns.limit)
    if not none.any():
        return columns
    dice = np.random.default_rng([seed, len(columns)])
    factors = np.exp(np.interp(dice.random(len(columns)), _SHARES, np.log(_FACTORS)))
    longest = max(ROUND_S[-1], float(columns.duration.max()))
    steps = np.append(ROUND_S, longest)
    wanted = np.minimum(columns.duration * factors, longest)
    asked = steps[np.searchsorted(steps, wanted)]
    return replace(
        columns, limit=np.where(none, np.maximum(asked, columns.duration), columns.limit)
    )

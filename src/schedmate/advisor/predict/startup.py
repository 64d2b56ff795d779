"""What runs take before they train: told apart by their logs, or by runs of different lengths."""

from __future__ import annotations

import numpy as np

from schedmate.advisor.predict.columns import Floats

_TELLING = 1.5
"""Lengths nearer to each other than this say little about start-up."""
_MOST = 30
_AT_MOST = 0.9
"""Of a run's time can be start-up."""


def startup_s(lengths: Floats | None, seconds: Floats, known: Floats) -> float:
    """Of runs of one workload, newest first; `known` is NaN where no log told it."""
    told = None if lengths is None else _intercept(lengths[:_MOST], seconds[:_MOST])
    if told is not None:
        return told
    stated = known[~np.isnan(known)]
    return float(np.median(stated)) if len(stated) else 0.0


def without_startup(seconds: Floats, known: Floats, usual: float) -> Floats:
    """What is left to training; at least a tenth."""
    startup = np.where(np.isnan(known), usual, known)
    return seconds - np.minimum(startup, _AT_MOST * seconds)


def _intercept(lengths: Floats, seconds: Floats) -> float | None:
    """Theil-Sen: single odd runs do not move it. None where lengths do not tell."""
    if len(lengths) == 0 or lengths.max() < _TELLING * lengths.min():
        return None
    one, other = np.triu_indices(len(lengths), 1)
    differ = lengths[one] != lengths[other]
    one, other = one[differ], other[differ]
    slope = np.median((seconds[one] - seconds[other]) / (lengths[one] - lengths[other]))
    start = float(np.median(seconds - slope * lengths))
    return start if slope > 0 and start > 0 else None

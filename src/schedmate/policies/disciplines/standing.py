"""Where each job stands in a line of first come, first served."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Standing:
    """By place, equal places by submission. With places that are times of submission a job's
    standing is its own number."""

    def __init__(self, place: Sequence[float]) -> None:
        order = np.argsort(np.asarray(place, dtype=np.float64), kind="stable")
        standing = np.empty_like(order)
        standing[order] = np.arange(len(order))
        self.job_at: list[int] = order.tolist()
        self.of: list[int] = standing.tolist()

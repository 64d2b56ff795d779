"""Where each job stands in a line of first come, first served."""

from __future__ import annotations

from collections.abc import Sequence


class Standing:
    """By place, equal places by submission. With places that are times of submission a job's
    standing is its own number."""

    def __init__(self, place: Sequence[float]) -> None:
        self.job_at = sorted(range(len(place)), key=place.__getitem__)
        self.of = [0] * len(place)
        for standing, job in enumerate(self.job_at):
            self.of[job] = standing

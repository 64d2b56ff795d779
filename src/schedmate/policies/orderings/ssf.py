"""Smallest predicted service first: run time times GPUs.

Of two jobs that take as long, the one on fewer GPUs keeps fewer others waiting. Beside a scheduler
that serves first come, first served, this shortens the average wait far more than run time alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.policies.orderings.sjf import LONGEST_S

if TYPE_CHECKING:
    from schedmate.policies.orderings.base import Candidate

_MANY_GPUS = 4
"""A week on so many is as last as it gets; the middle of the range is at 7.4 GPU hours."""


class SsfOrdering:
    name = "ssf"
    longest = _MANY_GPUS * LONGEST_S

    def cost(self, candidate: Candidate) -> float | None:
        expected = candidate.expected_s
        return None if expected is None else expected * max(1, candidate.job.request.gpus)

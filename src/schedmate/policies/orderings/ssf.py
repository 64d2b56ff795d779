"""Smallest predicted service first: run time times GPUs.

Of two jobs that take as long, the one on fewer GPUs keeps fewer others waiting. Beside a scheduler
that serves first come, first served, this shortens the average wait far more than run time alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.policies.orderings.sjf import UNKNOWN_S

if TYPE_CHECKING:
    from schedmate.policies.orderings.base import Candidate


class Ssf:
    name = "ssf"

    def nice(self, candidate: Candidate) -> int:
        expected = candidate.expected_s
        seconds = UNKNOWN_S if expected is None else expected
        return round(seconds * max(1, candidate.job.request.gpus))

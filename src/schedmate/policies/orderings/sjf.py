"""Shortest predicted job first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.policies.orderings.base import Candidate

UNKNOWN_S = 3600
"""Where a job stands that nothing is known of: before the long ones, behind the short."""


class Sjf:
    name = "sjf"

    def nice(self, candidate: Candidate) -> int:
        expected = candidate.expected_s
        return UNKNOWN_S if expected is None else round(expected)

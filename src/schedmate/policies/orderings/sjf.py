"""Shortest predicted job first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.policies.orderings.base import Candidate

LONGEST_S = 7 * 86400.0
"""With it, the middle of the range is at 3.7 hours."""


class SjfOrdering:
    name = "sjf"
    longest = LONGEST_S

    def cost(self, candidate: Candidate) -> float | None:
        return candidate.expected_s

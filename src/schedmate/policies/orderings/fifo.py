"""First in, first out: what a scheduler does by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.policies.orderings.base import Candidate


class FifoOrdering:
    name = "fifo"
    longest = 0.0

    def cost(self, candidate: Candidate) -> float | None:  # noqa: ARG002 - all are equal
        return 0.0

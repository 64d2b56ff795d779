"""First in, first out: what a scheduler does when nobody tells it better."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.policies.orderings.base import Candidate


class Fifo:
    name = "fifo"

    def nice(self, candidate: Candidate) -> int:  # noqa: ARG002 - nobody is preferred
        return 0

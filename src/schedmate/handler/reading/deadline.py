"""How long logs may be read, for callers that have others to look after."""

from __future__ import annotations

from schedmate.model.processor_budget import ProcessorBudget

_WAITS = 20
"""Times as long by the clock, where files do not come."""


class TakesLong(Exception):
    """The logs cannot be read in the time that was given."""


class Deadline:
    """So many seconds of the processor; never over without a number of them."""

    def __init__(self, within_s: float | None = None) -> None:
        self._time = None if within_s is None else ProcessorBudget(within_s, _WAITS * within_s)

    def check(self) -> None:
        if self._time is not None and self._time.is_spent:
            raise TakesLong

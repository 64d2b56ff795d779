"""How a line of a job's code is known to run."""

from __future__ import annotations

from enum import IntEnum


class Reached(IntEnum):
    """The higher one is the surer: what a line states counts only as much as the line runs."""

    OVERWRITTEN = 0
    """It runs, but the code itself changes the value later."""
    UNCALLED = 1
    """It stands in a function that no line is seen to call."""
    UNDECIDED = 2
    """It stands in a branch that cannot be decided before the job runs."""
    EXECUTED = 3
    """It is on the interpreted path."""

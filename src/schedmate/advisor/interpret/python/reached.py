"""How a line of a job's code is known to run."""

from __future__ import annotations

from enum import IntEnum


class Reached(IntEnum):
    """The higher one is the surer: what a line states counts only as much as the line runs."""

    ANOTHER_PROGRAM = 0
    """It runs only where another program is started: a module that the job's imports has one."""
    OVERWRITTEN = 1
    """It runs, but the code itself changes the value later."""
    UNCALLED = 2
    """It stands in a function that no line is seen to call."""
    UNDECIDED = 3
    """It stands in a branch that cannot be decided before the job runs."""
    EXECUTED = 4
    """It is on the interpreted path."""

"""What policies share: lines to wait in, plans of who ends when, and who must make room.

Jobs are numbers in order of submission; of two that are equal otherwise the lower goes first.
"""

from __future__ import annotations

from schedmate.policies.disciplines.expectation import UNKNOWN_S, Expectation
from schedmate.policies.disciplines.lines import FirstFitLine, Line, StrictLine
from schedmate.policies.disciplines.making_room import MakingRoom, Placed
from schedmate.policies.disciplines.ordered import Ordered
from schedmate.policies.disciplines.plans import UNLIMITED_S, PlannedEnds, plan_s
from schedmate.policies.disciplines.profile import FreeProfile
from schedmate.policies.disciplines.short_enough import ShortEnough
from schedmate.policies.disciplines.shortest_remaining import ShortestRemaining
from schedmate.policies.disciplines.staged import Staged, Stages
from schedmate.policies.disciplines.standing import Standing

__all__ = [
    "UNKNOWN_S",
    "UNLIMITED_S",
    "Expectation",
    "FirstFitLine",
    "FreeProfile",
    "Line",
    "MakingRoom",
    "Ordered",
    "Placed",
    "PlannedEnds",
    "ShortEnough",
    "ShortestRemaining",
    "Staged",
    "Stages",
    "Standing",
    "StrictLine",
    "plan_s",
]

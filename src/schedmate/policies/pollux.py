"""Pollux (OSDI'21): GPUs where they do the most good, whatever their type.

Goodput and offers as in `sia`, without types; `power` -1 as in the paper, where a job with no GPUs
counts as one that is a hundred times as slow as with its least: everybody gets something first.
Pollux searches with a genetic algorithm, whose outcome depends on chance and on how long it may
search; for GPUs that are alike Sia's program has the same optimum and is solved exactly.
"""

from __future__ import annotations

from schedmate.policies.sia import Sia


class Pollux(Sia):
    name = "pollux"
    heterogeneous = False
    power = -1.0
    nothing = 100.0

"""What the mind wants done. Actions change something at the scheduler; the rest asks the
rooms to look, and their answers come back as events.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import Action, Job


@dataclass(frozen=True, slots=True)
class Advise:
    job: Job


@dataclass(frozen=True, slots=True)
class Track:
    job: Job


@dataclass(frozen=True, slots=True)
class Measure:
    """It may hang: look at what its processes do. All that are due are asked for at once."""

    job: Job


@dataclass(frozen=True, slots=True)
class Diagnose:
    """`hung` says that the job still runs but has stopped moving."""

    job: Job
    hung: bool = False


@dataclass(frozen=True, slots=True)
class Remember:
    """The run has ended: keep what it was and how it went."""

    job: Job


@dataclass(frozen=True, slots=True)
class Act:
    action: Action


Instruction = Advise | Track | Measure | Diagnose | Remember | Act

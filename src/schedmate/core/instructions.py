"""What the decision engine wants done. `Act` carries a decision; the rest asks a component to
look, and its answer comes back as an event.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import Action, Job


@dataclass(frozen=True, slots=True)
class Advise:
    """`again`: it waited, and more is known now than when it was submitted.

    `afresh`: its files may have changed since.
    """

    job: Job
    again: bool = False
    afresh: bool = False


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
class Reconsider:
    """A retry helps, unless its owner submits the job again: see it and diagnose it at `due`."""

    job: Job
    due: float


@dataclass(frozen=True, slots=True)
class Remember:
    """The run has ended: keep what it was and how it went."""

    job: Job


@dataclass(frozen=True, slots=True)
class Act:
    action: Action


Instruction = Advise | Track | Measure | Diagnose | Reconsider | Remember | Act

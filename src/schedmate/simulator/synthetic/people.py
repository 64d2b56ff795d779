"""Users and their projects: what a user comes back to, what changed in it, and how jobs are
named."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from schedmate.model import JobState
from schedmate.simulator.synthetic.projects import Project, bank
from schedmate.simulator.traces.columns import STATES

_NUMBERED = "#"
_GENERIC = ("train", "job", "run", "bash", "exp", "test", "main", "interactive")
_OF_SCRIPT, _OF_PROJECT, _WITH_NUMBER = 0.35, 0.6, 0.85
"""Up to which share a job is called like its script, its project, or that with a number."""


def style(project: Project, chance: float) -> str:
    """`#` stands for the number of the run."""
    if chance < _OF_SCRIPT:
        return project.script
    if chance < _OF_PROJECT:
        return project.name
    if chance < _WITH_NUMBER:
        return f"{project.name.partition('_')[0]}-{_NUMBERED}"
    return _GENERIC[int((chance - _WITH_NUMBER) / (1 - _WITH_NUMBER) * len(_GENERIC))]


def name_of(name: str, run: int) -> str:
    return name.replace(_NUMBERED, str(run))


COMPLETED = STATES.index(JobState.COMPLETED)
_FEW = 6
"""Projects that a user has at a time."""
_STAND_IN = 2000
"""Jobs of one name from which on it stands for many people."""
_JOBS_OF_A_PROJECT = 150
_MOST = 12
_FARTHEST = math.log(30.0)
"""The length of a training is never changed by more."""
_OTHER_GPUS = 1.0
_NEVER = 8.0
_LONG_AGO = 0.1
_SHARPLY = 1.5
_LOADED = 1.5
"""Times its start-up that a run takes at least."""
_SHORTEST = 1.5
"""Epochs or steps that a run of such a project can have had; fewer would be less than one."""
_LEAST_LENGTH = 4.0
_SPREAD = 2.0


@dataclass(slots=True)
class Copy:
    """A user's copy of a project, as it was last run."""

    project: int
    number: int
    log_speed: float
    """How much slower than the bank's its steps are (log): other data, other hardware, edits."""
    name: str
    readable: bool
    version: int = 0
    length: float = 0.0
    batch: float = 1.0
    rate: float = 0.1
    startup_s: float = 0.0
    log_s: float = 0.0
    """What the numbers of its last run came to."""
    log_gpus: float = 0.0
    runs: int = 0
    ended: int = -1
    """How its last run did: index into `STATES`."""

    @property
    def log_startup(self) -> float:
        """In less than this no run of it comes to its end."""
        return math.log(_LOADED * self.startup_s)

    @property
    def kind(self) -> Project:
        return bank()[self.project]

    def unit_s(self, gpus: int) -> float:
        return self.kind.unit_s(self.batch, gpus) * math.exp(self.log_speed)

    def ran(self, gpus: int, stated_s: float, ended: int) -> None:
        self.log_gpus, self.log_s, self.ended = math.log(gpus), math.log(stated_s), ended
        self.runs += 1


@dataclass(slots=True)
class Person:
    """The person, or people, behind a user name; the copies used last come first."""

    most: int
    copies: list[Copy] = field(default_factory=list)

    @classmethod
    def with_jobs(cls, jobs: int) -> Person:
        many = min(_MOST, max(_FEW, jobs // _JOBS_OF_A_PROJECT))
        return cls(_FEW if jobs < _STAND_IN else many)

    def choose(self, stated_s: float, gpus: int, *, chance: float) -> Copy | None:
        """A copy that such numbers can be of; likely one that was run like that before."""
        asked = math.log(stated_s), math.log(gpus)
        weights = [
            math.exp(-_SHARPLY * (_cost(copy, *asked) + _LONG_AGO * age))
            for age, copy in enumerate(self.copies)
        ]
        wanted = chance * sum(weights)
        for copy, weight in zip(self.copies, weights, strict=True):
            wanted -= weight
            if weight and wanted <= 0:
                return copy
        return None

    def used(self, copy: Copy) -> None:
        self.copies = [copy, *(each for each in self.copies if each is not copy)][: self.most]


def _cost(copy: Copy, log_s: float, log_gpus: float) -> float:
    more = log_gpus - copy.log_gpus
    longer = log_s - copy.log_s + copy.kind.faster * more
    if log_s < copy.log_startup or copy.length * math.exp(min(longer, 9.0)) < _SHORTEST:
        return math.inf
    if abs(longer) > _FARTHEST:
        return math.inf
    if more and not copy.kind.gpu_exponent:
        return math.inf
    return abs(longer) + (_OTHER_GPUS + abs(more) if more else 0.0)


def _unusual(project: Project, gpus: int) -> float:
    """What uses one GPU is hardly ever given more."""
    off = min(abs(math.log(gpus / each)) for each in project.gpus)
    return off if project.gpu_exponent else _NEVER * off


class Shelf:
    """What a new project is taken from: those that are run on so many GPUs for about so long."""

    def __init__(self) -> None:
        self._typical = np.array([math.log(project.length) for project in bank()])
        self._by_gpus: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def choose(self, seconds: float, gpus: int, *, chance: float) -> int:
        log_unit, unusual = self._for(gpus)
        length = math.log(seconds) - log_unit
        off = (length - self._typical) / _SPREAD
        short = np.maximum(math.log(_LEAST_LENGTH) - length, 0.0)
        weights = np.exp(-0.5 * np.minimum(off**2, 40.0) - 6.0 * np.minimum(short, 20.0) - unusual)
        if weights.sum() <= 0:
            return int(np.argmin(short))
        ahead = np.cumsum(weights)
        return int(np.searchsorted(ahead, chance * ahead[-1]))

    def _for(self, gpus: int) -> tuple[np.ndarray, np.ndarray]:
        if gpus not in self._by_gpus:
            units = [math.log(each.unit_s(each.batch or 1, gpus)) for each in bank()]
            unusual = [_unusual(project, gpus) for project in bank()]
            self._by_gpus[gpus] = np.array(units), np.array(unusual)
        return self._by_gpus[gpus]

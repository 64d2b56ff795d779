"""A policy that is an order of waiting and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from schedmate.policies.disciplines.expectation import Expectation
from schedmate.policies.disciplines.lines import FirstFitLine, Line, StrictLine
from schedmate.policies.world import Fast, Key, Source, World

Greed = Literal["strict", "first_fit"]


class Ordered:
    """By `key`, ties by submission; who may overtake a job that does not fit is `discipline`."""

    name: ClassVar[str]
    source: ClassVar[Source | None]
    key: ClassVar[Key]

    def __init__(self, *, discipline: Greed = "strict") -> None:
        self.fast = Fast("static", discipline, self.key)
        self._first_fit = discipline == "first_fit"

    def begin(self, world: World) -> None:
        self._gpus = world.jobs.gpus
        self._expectation = Expectation(world.jobs.expected)
        keys: dict[Key, Callable[[int], float]] = {
            "place": world.jobs.place.__getitem__,
            "expected": self._expectation.submitted,
            "expected_service": self._expected_service,
        }
        self._key_of = keys[self.key]
        self._line: Line = FirstFitLine(world) if self._first_fit else StrictLine(world)

    def arrived(self, job: int) -> None:
        self._line.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        """The GPUs are free again, which is all that counts."""

    def evicted(self, job: int) -> None:
        """It arrives again when it can."""

    def decide(self) -> None:
        self._line.start_who_may()

    def _expected_service(self, job: int) -> float:
        return self._expectation.submitted(job) * self._gpus[job]

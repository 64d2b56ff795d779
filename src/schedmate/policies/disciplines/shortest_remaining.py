"""Shortest remaining first: who has less to go stops who has more."""

from __future__ import annotations

from typing import ClassVar

from schedmate.policies.disciplines.expectation import Expectation
from schedmate.policies.disciplines.making_room import MakingRoom
from schedmate.policies.world import Fast, Key, Source, World


class ShortestRemaining:
    """By the seconds expected to remain, times GPUs where `key` says service."""

    name: ClassVar[str]
    source: ClassVar[Source | None] = "oracle"
    key: ClassVar[Key]

    def __init__(self) -> None:
        self.fast = Fast("preemptive", key=self.key)

    def begin(self, world: World) -> None:
        self._world = world
        self._expectation = Expectation(world.jobs.expected)
        self._room = MakingRoom(world)
        self._running: dict[int, None] = {}

    def arrived(self, job: int) -> None:
        self._expectation.submitted(job)
        self._room.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        del self._running[job]

    def evicted(self, job: int) -> None:
        del self._running[job]

    def decide(self) -> None:
        if not self._room.waiting:
            return
        running = sorted([(self._key_of(job), job) for job in self._running])
        stopped, started = self._room.make(running)
        for job in stopped:
            del self._running[job]
        for job in started:
            self._running[job] = None

    def _key_of(self, job: int) -> float:
        world = self._world
        remaining = world.remaining(job)
        if remaining != remaining:  # noqa: PLR0124 - true for nan alone, and asked very often
            remaining = max(self._expectation.stand_in(job) - world.served(job), 0.0)
        return remaining * world.jobs.gpus[job] if self.key == "expected_service" else remaining

"""Shortest first: by run time or service (run time times GPUs), of the whole job or what remains.

`sjf`, `ssf`, `srtf` and `srsf` go by predictions. Their default predictor (`source`) is `history`:
the rolling mean of the user's earlier jobs of a similar name, else of as many GPUs. The references
`sjf-oracle` and so on do the same by the true run times.
"""

from __future__ import annotations

from typing import ClassVar

from schedmate.policies.base import ClusterView, KernelSpec, Kind, Source
from schedmate.policies.disciplines import ExpectedDurations, Preemptor, StaticOrder
from schedmate.policies.predicted_gittins import AnsweredByIndex


class ShortestFirst(StaticOrder):
    """No job overtakes the head of the queue, and a running job is never stopped."""

    kind: ClassVar[Kind] = "asking"
    asks_for = frozenset({"duration"})
    source: ClassVar[Source | None] = "history"


class Sjf(ShortestFirst):
    """Shortest job first."""

    name = "sjf"
    orders_by = "duration"


class Ssf(ShortestFirst):
    """Smallest service first."""

    name = "ssf"
    orders_by = "service"


class Qssf(ShortestFirst):
    """Quasi-shortest service first (Helios, SC'21): `ssf` by Helios' own predictor."""

    name = "qssf"
    orders_by = "service"
    source = "qssf"


class ShortestRemaining(AnsweredByIndex):
    """By the seconds expected to remain, times GPUs where it orders by service; a job with less to
    go stops those with more."""

    kind: ClassVar[Kind] = "asking"
    preempts = True
    asks_for = frozenset({"duration", "progress"})
    source: ClassVar[Source | None] = "history"
    kernel = KernelSpec("preemptive")

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._expectation = ExpectedDurations(cluster.jobs.expected)
        self._preemptor = Preemptor(cluster)
        self._running: dict[int, None] = {}

    def arrived(self, job: int) -> None:
        self._expectation.submitted(job)
        self._preemptor.put(job, self._key_of(job))

    def ended(self, job: int) -> None:
        del self._running[job]

    def evicted(self, job: int) -> None:
        del self._running[job]

    def decide(self) -> None:
        if not self._preemptor.waiting:
            return
        running = sorted([(self._key_of(job), job) for job in self._running])
        stopped, started = self._preemptor.make_room(running)
        for job in stopped:
            del self._running[job]
        for job in started:
            self._running[job] = None

    def _key_of(self, job: int) -> float:
        cluster = self._cluster
        remaining = cluster.remaining(job)
        if remaining != remaining:  # noqa: PLR0124 - true for nan alone, and asked very often
            remaining = max(self._expectation.stand_in(job) - cluster.served(job), 0.0)
        return (
            remaining * cluster.jobs.gpus[job]
            if self.orders_by == "remaining_service"
            else remaining
        )


class Srtf(ShortestRemaining):
    """Shortest remaining time first."""

    name = "srtf"
    orders_by = "remaining_duration"


class Srsf(ShortestRemaining):
    """Smallest remaining service first."""

    name = "srsf"
    orders_by = "remaining_service"


class SjfOracle(Sjf):
    name = "sjf-oracle"
    kind = "oracle"
    source = "oracle"


class SsfOracle(Ssf):
    name = "ssf-oracle"
    kind = "oracle"
    source = "oracle"


class SrtfOracle(Srtf):
    name = "srtf-oracle"
    kind = "oracle"
    source = "oracle"


class SrsfOracle(Srsf):
    name = "srsf-oracle"
    kind = "oracle"
    source = "oracle"

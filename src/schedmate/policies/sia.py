"""Sia (SOSP'23) and Pollux (OSDI'21): GPUs, how many and of which type, where they do most good.

At the start of a round (60 s) every active job is offered configurations: powers of two within a
node, then whole nodes. An offer is worth its goodput over that of the job's least one, less what a
restart would waste where it is another than the one the job has: the factor is Sia's, the share of
its age that the job has not spent on restarts, one more included. An integer program takes the best
offers together (`power` -0.5, nothing for a job 1.1, as in the authors' simulator: rather than let
all crawl it lets some wait). No job gets more than twice what it was tried on; a new job begins
with its least, unless its paces are predicted.

How far a job of a trace can stretch is unknown: `span` is the share of what it requested that is
the least, and the multiple that is the most. The program is solved when jobs have come or gone or
something new was measured, and every tenth round, as its outcome hardly changes otherwise.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from schedmate.model import BadInput
from schedmate.policies.base import Answers, ClusterView, PaceModel, Policy
from schedmate.policies.goodput import Goodputs, Offers, allocate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Config = tuple[int, int]
"""GPUs and their type."""

_LOOK_AGAIN = 10


class Sia(Policy):
    name = "sia"
    kind = "asking"
    orders_by = "goodput"
    preempts = True
    asks_for = frozenset({"throughput"})
    heterogeneous: ClassVar[bool] = True
    power: ClassVar[float] = -0.5
    nothing: ClassVar[float] = 1.1

    def __init__(
        self,
        *,
        power: float | None = None,
        round_s: float = 60.0,
        restart_s: float = 60.0,
        node_gpus: int = 8,
        span: tuple[float, float] = (0.25, 2.0),
        paces: PaceModel | None = None,
    ) -> None:
        self._power = self.power if power is None else power
        if self._power >= 0.0 or round_s <= 0.0 or restart_s < 0.0 or node_gpus < 1:
            raise BadInput(
                f"{self.name} needs a power below 0, rounds above 0 s and nodes with GPUs"
            )
        if not 0.0 < span[0] <= 1.0 <= span[1]:
            raise BadInput(f"{self.name} stretches a job around what it asked for: 0 < a <= 1 <= b")
        self._round_s = round_s
        self._restart_s = restart_s
        self._node_gpus = node_gpus
        self._span = span
        self._paces = paces

    @classmethod
    def answered(cls, answers: Answers) -> Policy:
        return cls(paces=answers.paces)

    def begin(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._asked = list(cluster.jobs.gpus)
        self._submitted = list(cluster.jobs.submit)
        """The first time, also of jobs that were queued again."""
        self._goodputs = Goodputs(self._asked, self._paces)
        self._active: dict[int, None] = {}
        self._has: dict[int, Config] = {}
        self._tried: dict[int, int] = {}
        self._restarts: dict[int, int] = {}
        self._news = False
        self._turned = -math.inf
        self._look_at = math.inf

    def arrived(self, job: int) -> None:
        self._active[job] = None
        self._news = True

    def ended(self, job: int) -> None:
        self.evicted(job)
        self._goodputs.forget(job)

    def evicted(self, job: int) -> None:
        del self._active[job]
        del self._has[job]
        self._news = True

    def decide(self) -> None:
        now = self._cluster.now
        due = now if not self._has else self._turned + self._round_s
        if self._active and self._news and now < due:
            self._wake(due)
        if self._active and now >= due and (self._news or now >= self._look_at):
            self._turn(now)

    def _turn(self, now: float) -> None:
        self._turned = now
        self._observe()
        before = dict(self._has)
        self._give(self._chosen())
        self._news = before != self._has
        self._look_at = math.inf
        self._wake(now + self._round_s * (1 if self._news else _LOOK_AGAIN))

    def _wake(self, time: float) -> None:
        if not self._cluster.now < self._look_at <= time:
            self._look_at = time
            self._cluster.wake_at(time)

    def _observe(self) -> None:
        for job, (gpus, kind) in self._has.items():
            pace = self._cluster.pace(job) / self._speed(job, kind)
            self._goodputs.observe(job, gpus, pace)

    def _speed(self, job: int, kind: int) -> float:
        return self._cluster.speed(job, kind) if self.heterogeneous else 1.0

    def _chosen(self) -> dict[int, Config]:
        capacity = self._capacity()
        active = sorted(self._active)
        rows = [self._offers(place, job, capacity) for place, job in enumerate(active)]
        offers = Offers(*(np.concatenate(column) for column in zip(*rows, strict=True)))
        taken = allocate(offers, capacity, power=self._power, nothing=self.nothing)
        return {
            active[int(offers.job[row])]: (int(offers.gpus[row]), int(offers.kind[row]))
            for row in taken
        }

    def _capacity(self) -> Ints:
        kinds = self._cluster.kinds() if self.heterogeneous else [self._cluster.gpus]
        return np.asarray(kinds, dtype=np.int64)

    def _offers(self, place: int, job: int, capacity: Ints) -> tuple[Ints, Ints, Ints, Floats]:
        counts = self._counts(job, int(capacity.max()))
        goodputs = self._goodputs.of(job, counts)
        gpus, kinds, worth = [], [], []
        for kind, most in enumerate(capacity.tolist()):
            fitting = counts <= most
            gpus.append(counts[fitting])
            kinds.append(np.full(int(fitting.sum()), kind))
            worth.append(goodputs[fitting] * self._speed(job, kind))
        all_gpus, all_kinds, all_worth = (np.concatenate(one) for one in (gpus, kinds, worth))
        if len(all_worth):
            all_worth = all_worth / all_worth.min()
        has = self._has.get(job)
        if has is not None:
            other = (all_gpus != has[0]) | (all_kinds != has[1])
            all_worth = np.where(other, all_worth * self._restart_factor(job), all_worth)
        return np.full(len(all_gpus), place), all_gpus, all_kinds, all_worth

    def _restart_factor(self, job: int) -> float:
        age = self._cluster.now - self._submitted[job]
        lost = self._restarts.get(job, 0) * self._restart_s
        return max(age - lost, 0.0) / (age + self._restart_s) if age > 0.0 else 1.0

    def _counts(self, job: int, largest: int) -> Ints:
        """Numbers of GPUs that may be offered; what it has is always one of them."""
        asked, node = self._asked[job], self._node_gpus
        least = max(1, math.ceil(asked * self._span[0]))
        most = max(least, math.floor(asked * self._span[1]))
        inside = [2**step for step in range(node.bit_length()) if 2**step <= node]
        counts = [*inside, *range(2 * node, most + 1, node)]
        fitting = [gpus for gpus in counts if least <= gpus <= most and gpus <= largest]
        if not self._goodputs.predicted(job):
            tried = self._tried.get(job, 0)
            fitting = [gpus for gpus in fitting if gpus <= 2 * tried] or fitting[:1]
        return np.array(fitting or [min(asked, largest)], dtype=np.int64)

    def _give(self, chosen: dict[int, Config]) -> None:
        for job, config in list(self._has.items()):
            if chosen.get(job) != config:
                self._cluster.stop(job)
                del self._has[job]
                self._restarts[job] = self._restarts.get(job, 0) + 1
        fresh = [(-config[0], job) for job, config in chosen.items() if job not in self._has]
        for _, job in sorted(fresh):
            gpus, kind = chosen[job]
            if self._cluster.start(job, gpus, kind if self.heterogeneous else None):
                self._has[job] = (gpus, kind)
                self._tried[job] = max(gpus, self._tried.get(job, 0))


class Pollux(Sia):
    """Goodput and offers as in `Sia`, without types; `power` -1 as in the paper, where a job with
    no GPUs counts as one that is a hundred times as slow as with its least: every job gets
    something first. Pollux searches with a genetic algorithm, whose outcome depends on chance and
    on how long it may search; for GPUs that are alike Sia's program has the same optimum and is
    solved exactly.
    """

    name = "pollux"
    heterogeneous = False
    power = -1.0
    nothing = 100.0

"""The Failure Handler in a simulation, and what happens where there is none.

A job whose node failed comes back by hand where no handler runs: its owner has to notice first. The
handler asks the same table and the same budget as the live loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from schedmate.core import Attempt, Limits, Reached, plan_retry
from schedmate.model import REASONS, Decision, Diagnosis
from schedmate.simulator.synthetic import SyntheticWorkload
from schedmate.simulator.traces.columns import Floats

SEEN_BY_HAND_S = 2 * 3600.0
"""Half of the users come back within that time. Assumed."""
_BY_HAND_SIGMA = 1.2
DIAGNOSED_S = 60.0
"""From the end of a run to its requeueing: one look of the daemon and one diagnosis."""
STALL_SEEN_S = 1800.0
"""How long a log must be silent before its job is called hung."""
WRONGLY_STOPPED = 1 / 250
"""The share of jobs long enough for it that are stopped though sound: none of 250 real logs was
called failed, so it may be one."""
_NODE_FAILURE = "node_failure"


class Users:
    """They notice, hours later, and submit again; the job goes on from its last checkpoint."""

    mistakes: Mapping[int, float] = MappingProxyType({})

    def __init__(self, checkpoint_every_s: Floats, *, seed: int) -> None:
        self._every_s = checkpoint_every_s.tolist()
        self._rng = np.random.default_rng([seed, len(checkpoint_every_s)])

    def lost(self, job: int, node: int | None, done_s: float) -> tuple[float, float]:  # noqa: ARG002 - they do not look at the node
        return self._by_hand_s(), self._kept(job, done_s)

    def _by_hand_s(self) -> float:
        return float(SEEN_BY_HAND_S * self._rng.lognormal(0.0, _BY_HAND_SIGMA))

    def _kept(self, job: int, done_s: float) -> float:
        every = self._every_s[job]
        return float(done_s // every * every) if every > 0 else 0.0


class Handler(Users):
    """Requeued at once while the budget lasts, and by hand thereafter. A sound job that is taken
    for hung is stopped, and its owner has to see that himself."""

    def __init__(
        self,
        checkpoint_every_s: Floats,
        durations: Floats,
        *,
        seed: int,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(checkpoint_every_s, seed=seed)
        self._limits = limits or Limits()
        self._attempts: dict[int, dict[int, Attempt]] = {}
        self.mistakes = _mistakes(durations, seed)

    def lost(self, job: int, node: int | None, done_s: float) -> tuple[float, float]:
        if node is None:
            return super().lost(job, node, done_s)
        attempts = self._attempts.setdefault(job, {})
        kept = self._kept(job, done_s)
        attempts[len(attempts)] = Attempt(
            diagnosis=_node_failed(),
            nodes=(str(node),),
            reached=Reached(unit="step", done=done_s, saved=kept, resumes=True),
        )
        plan = plan_retry(attempts, len(attempts) - 1, limits=self._limits, job_id=str(job))
        delay = DIAGNOSED_S + plan.delay_s if plan.again else self._by_hand_s()
        return delay, kept


def _mistakes(durations: Floats, seed: int) -> Mapping[int, float]:
    rng = np.random.default_rng([seed, len(durations), 1])
    chosen = (rng.random(len(durations)) < WRONGLY_STOPPED) & (durations > STALL_SEEN_S)
    after = STALL_SEEN_S + (durations - STALL_SEEN_S) * rng.random(len(durations))
    return {job: float(after[job]) for job in np.flatnonzero(chosen).tolist()}


def _node_failed() -> Diagnosis:
    """The live handler's diagnosis of a node that went away."""
    reason = REASONS[_NODE_FAILURE]
    return Diagnosis(
        reason=_NODE_FAILURE,
        category=reason.category,
        summary="the node went away",
        confidence=1.0,
        source="rule",
        decision=Decision(retry=reason.retry, why="other nodes may do"),
    )


def without_hanging(durations: Floats, workload: SyntheticWorkload) -> Floats:
    """How long jobs run where hung ones are stopped: the silence until that is seen remains."""
    saved = np.maximum(workload.hang_s - STALL_SEEN_S, 0.0)
    return np.asarray(np.maximum(durations - saved, 0.0))

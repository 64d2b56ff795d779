"""Failures of simulated jobs through the real handler: what a scheduler shows, without a log."""

from __future__ import annotations

from schedmate.core import JobDiagnosed, NodeChoice, Reached
from schedmate.handler import Case, Handler
from schedmate.model import Job, NodeState
from schedmate.simulator.engine.steering import Recovery, Steered


class Diagnoses:
    def __init__(self, recovery: Recovery) -> None:
        self._handler = Handler()
        self._recovery = recovery

    def of(
        self, job: int, seen: Job, now: float, scheduler: Steered, *, hung: bool
    ) -> JobDiagnosed:
        """Of a run whose node went down, or that is silent."""
        up = frozenset(str(node) for node in scheduler.nodes_for(job))
        states = tuple(
            NodeState(name=node, condition="up" if node in up else "down") for node in seen.nodes
        )
        case = Case(
            state=seen.state,
            nodes=seen.nodes,
            hung=hung,
            attempt=seen.restarts,
            started_at=seen.start_time,
            ended_at=seen.end_time,
            node_states=states,
            user=seen.user,
        )
        return JobDiagnosed(
            now,
            seen.id,
            seen.restarts,
            self._handler.diagnose(case),
            reached=self._reached(job, scheduler.done_s(job)),
            choice=NodeChoice(up, max(1, len(seen.nodes))) if up else None,
        )

    def _reached(self, job: int, done_s: float) -> Reached:
        _, saved = self._recovery.restarts_with(job, done_s)
        return Reached(unit="step", done=done_s, saved=saved, saves=saved > 0, resumes=saved > 0)

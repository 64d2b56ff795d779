"""What is known of the nodes: their states by the scheduler, and suspicions by past jobs.

Asked only when a job has failed or a verb shows it, and kept for a while: a cluster that loses a
switch has a hundred failed jobs at once and one answer for all of them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.core import NodeChoice, SuspectNode
from schedmate.handler.suspects import WINDOW_S, Suspicion, suspicions
from schedmate.model import Job, NodeState, SchedMateError
from schedmate.schedulers.base import GivesGpusAsNodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedmate.schedulers.base import Scheduler
    from schedmate.store import Store

_FRESH_S = 60.0
_SOON_S = 900.0
"""How long after the end of a run the state of its nodes is still evidence about it."""
_log = logging.getLogger("schedmate.nodes")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node: its state, and what is to be thought of it."""

    state: NodeState
    suspicion: Suspicion

    @property
    def name(self) -> str:
        return self.state.name


class NodeKnowledge:
    """Fails open: where the states of the nodes are unknown, nothing follows from them."""

    def __init__(self, scheduler: Scheduler, store: Store) -> None:
        self._scheduler = scheduler
        self._store = store
        self._states: tuple[float, dict[str, NodeState]] | None = None
        self._suspicions: tuple[float, dict[str, Suspicion]] | None = None

    def states_of(self, job: Job, now: float) -> tuple[NodeState, ...]:
        """How the nodes of a job are that runs, or has ended just now; of others nothing."""
        if job.end_time is not None and now - job.end_time > _SOON_S:
            return ()
        known = self._all_states(now) if job.nodes else {}
        return tuple(known[node] for node in job.nodes if node in known)

    def suspects_among(self, nodes: Sequence[str], now: float) -> tuple[Suspicion, ...]:
        known = self._all_suspicions(now) if nodes else {}
        found = (known[node] for node in nodes if node in known)
        return tuple(one for one in found if one.suspect)

    def choice_for(self, job: Job, now: float) -> NodeChoice:
        """The nodes that could run it again, by all that it asks for itself."""
        known = self._all_states(now)
        job = self._with_all_it_asks_for(job)
        up = [node for node in known.values() if node.condition == "up"]
        fit = frozenset(node.name for node in up if self._scheduler.may_run_on(job, node))
        return NodeChoice(
            fit,
            max(1, self._needed(job)),
            required=frozenset(job.request.required_nodes),
            excluded=frozenset(job.request.exclude_nodes),
            picky=len(fit) < len(up),
        )

    def _needed(self, job: Job) -> int:
        if isinstance(self._scheduler, GivesGpusAsNodes):
            return self._scheduler.needed_nodes(job)
        return job.request.nodes

    def _with_all_it_asks_for(self, job: Job) -> Job:
        """A scheduler reports more of a job that is asked for by its id."""
        try:
            found = self._scheduler.jobs([job.id])
        except SchedMateError:
            return job
        return next((one for one in found if one.restarts == job.restarts), job)

    def suspects(self, now: float) -> list[SuspectNode]:
        """The suspect ones of the scheduler, with what a drain depends on."""
        states, known = self._all_states(now), self._all_suspicions(now)
        out = sum(one.condition != "up" for one in states.values())
        return [
            SuspectNode(
                node=states[one.node],
                probability=one.probability,
                failures=one.failures,
                users=one.users,
                newest=max((against.at for against in one.evidence), default=0.0),
                nodes=len(states),
                out=out,
            )
            for one in known.values()
            if one.suspect and one.node in states
        ]

    def views(self, now: float) -> list[NodeView]:
        """Every node that the scheduler has or a past job ran on, the most suspect first."""
        states, suspicions = self._all_states(now), self._all_suspicions(now)
        views = [
            NodeView(
                state=states.get(name, NodeState(name=name)),
                suspicion=suspicions.get(name, Suspicion(node=name, probability=0.0)),
            )
            for name in sorted({*states, *suspicions})
        ]
        return sorted(views, key=lambda view: -view.suspicion.probability)

    def _all_states(self, now: float) -> dict[str, NodeState]:
        if self._states is None or now - self._states[0] >= _FRESH_S:
            self._states = (now, {node.name: node for node in self._ask()})
        return self._states[1]

    def _ask(self) -> Iterable[NodeState]:
        try:
            return self._scheduler.nodes()
        except SchedMateError as error:
            _log.warning("how the nodes are is not known: %s", error)
            return ()

    def _all_suspicions(self, now: float) -> dict[str, Suspicion]:
        if self._suspicions is None or now - self._suspicions[0] >= _FRESH_S:
            runs = self._store.node_runs(since=now - WINDOW_S)
            self._suspicions = (now, suspicions(runs, now))
        return self._suspicions[1]

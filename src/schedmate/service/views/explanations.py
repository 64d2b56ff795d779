"""What only a look at the scheduler and the nodes shows of a job, asked for one job at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.service.views.job_view import explained

if TYPE_CHECKING:
    from schedmate.handler.suspects import Suspicion
    from schedmate.model import JobId
    from schedmate.schedulers.base import Obstacle, Scheduler
    from schedmate.service.records.nodes import NodeKnowledge
    from schedmate.service.views.job_view import JobView

_FRESH_S = 30.0
"""How long the scheduler is not asked again about the same job."""
_MOST = 1000


@dataclass(frozen=True, slots=True)
class _Answer:
    at: float
    obstacle: Obstacle | None
    suspects: tuple[Suspicion, ...]


@dataclass(slots=True)
class Explanations:
    """Remembers answers for a while: a page that many look at asks the scheduler once."""

    scheduler: Scheduler
    nodes: NodeKnowledge
    _known: dict[tuple[JobId, float, str], _Answer] = field(default_factory=dict)
    """The oldest first; those that are too old go when the next one comes."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, view: JobView, now: float) -> JobView:
        """With its obstacle where it waits, or the suspects among its nodes where it failed."""
        job = view.job
        key = (job.id, job.submit_time, f"{job.restarts} {job.state} {job.reason}")
        with self._lock:
            known = self._known.get(key)
        if known is None or now - known.at >= _FRESH_S:
            found = explained(view, self.scheduler, self.nodes, now)
            known = _Answer(now, found.obstacle, found.suspects)
            with self._lock:
                self._known.pop(key, None)
                self._drop_old(now)
                self._known[key] = known
        return replace(view, obstacle=known.obstacle, suspects=known.suspects)

    def _drop_old(self, now: float) -> None:
        while self._known:
            key, oldest = next(iter(self._known.items()))
            if now - oldest.at < _FRESH_S and len(self._known) < _MOST:
                return
            del self._known[key]

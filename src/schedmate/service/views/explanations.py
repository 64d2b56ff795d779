"""What only a look at the scheduler and the nodes shows of a job, asked for one job at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.service.views.job_view import explained

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.schedulers.base import Scheduler
    from schedmate.service.records.nodes import NodeKnowledge
    from schedmate.service.views.job_view import JobView

_FRESH_S = 30.0
"""How long the scheduler is not asked again about the same job."""
_MOST = 1000


@dataclass(slots=True)
class Explanations:
    """Remembers answers for a while: a page that many look at asks the scheduler once."""

    scheduler: Scheduler
    nodes: NodeKnowledge
    _known: dict[tuple[JobId, int, str], tuple[float, JobView]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, view: JobView, now: float) -> JobView:
        """With its obstacle where it waits, or the suspects among its nodes where it failed."""
        job = view.job
        key = (job.id, job.restarts, f"{job.state} {job.reason}")
        with self._lock:
            at, known = self._known.get(key, (0.0, view))
        if now - at >= _FRESH_S:
            known = explained(view, self.scheduler, self.nodes, now)
            with self._lock:
                self._known.pop(key, None)
                while len(self._known) >= _MOST:
                    del self._known[next(iter(self._known))]
                self._known[key] = (now, known)
        return replace(view, obstacle=known.obstacle, suspects=known.suspects)

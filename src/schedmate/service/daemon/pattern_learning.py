"""Log formats that were learnt from a job's own lines, stored for the code that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import Subject
from schedmate.tracker.unknown import ask

if TYPE_CHECKING:
    from schedmate.model import Asker
    from schedmate.service.daemon.background import BackgroundQueue
    from schedmate.service.records.run_tracking import TrackedRun
    from schedmate.store import Store

_MOST_ASKED = 10_000


class PatternLearning:
    """Without an `asker` nothing is asked: formats are then learnt from behaviour alone."""

    def __init__(
        self, store: Store, background: BackgroundQueue, asker: Asker | None = None
    ) -> None:
        self._store = store
        self._background = background
        self._asker = asker
        self._asked: set[str] = set()

    def note(self, run: TrackedRun) -> None:
        """Store for the next run of this code how its log is read; remove what was wrong."""
        learnt = run.tracker.pattern
        if run.code is None or learnt == run.pattern:
            return
        if learnt is None:
            self._store.unlearn_pattern(run.code)
        else:
            self._store.learn_pattern(run.code, learnt)
        run.pattern = learnt

    def ask(self, run: TrackedRun) -> None:
        """One question for all runs of the same code, whatever comes of it."""
        key = run.code or run.job.id
        asker, tracker = self._asker, run.tracker
        if asker is None or key in self._asked:
            return
        question = tracker.question()
        if question is None:
            return
        if len(self._asked) >= _MOST_ASKED:
            self._asked.clear()
        self._asked.add(key)
        job = run.job
        about = Subject(user=job.user, job_id=job.id, workdir=job.workdir, comment=job.comment)
        self._background.submit(
            f"the log of job {run.job.id}",
            lambda: ask(question, asker, about).value,
            lambda answer, _: tracker.settle(question, answer),
        )

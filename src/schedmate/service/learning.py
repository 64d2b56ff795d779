"""What a job's own lines taught about its log, remembered for the code that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.tracker.unknown import ask

if TYPE_CHECKING:
    from schedmate.model import Asker
    from schedmate.service.background import BackgroundQueue
    from schedmate.service.followed import Followed
    from schedmate.store import Store


class Learning:
    """Without an `asker` nothing is asked: formats are then learnt from behaviour alone."""

    def __init__(
        self, store: Store, background: BackgroundQueue, asker: Asker | None = None
    ) -> None:
        self._store = store
        self._background = background
        self._asker = asker
        self._asked: set[str] = set()

    def note(self, one: Followed) -> None:
        """Remember for the next run of this code how its log is read; forget what was wrong."""
        learnt = one.tracker.pattern
        if one.code is None or learnt == one.pattern:
            return
        if learnt is None:
            self._store.unlearn_pattern(one.code)
        else:
            self._store.learn_pattern(one.code, learnt)
        one.pattern = learnt

    def ask(self, one: Followed) -> None:
        """One question for all runs of the same code, whatever comes of it."""
        key = one.code or one.job.id
        asker, tracker = self._asker, one.tracker
        if asker is None or key in self._asked:
            return
        question = tracker.question()
        if question is None:
            return
        self._asked.add(key)
        self._background.ask(
            f"the log of job {one.job.id}",
            lambda: ask(question, asker).value,
            lambda answer, _: tracker.settle(question, answer),
        )

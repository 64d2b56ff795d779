"""Looking at the logs of some jobs again and again until they are over."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from schedmate.cli._look import Look, failure_line
from schedmate.cli._progress import OVER
from schedmate.logs.writers import WriterWatch
from schedmate.model import Cost
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.tracker.unknown import ask

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.model import Answer, Asker, Progress
    from schedmate.tracker import JobTracker
    from schedmate.tracker.unknown import Question, Roles

_NEARLY = 0.95
"""A run whose process ended with less of its total done may have been killed."""


Looks = Iterator["list[Look]"]


class Followed(Protocol):
    def look(self, now: float) -> Look: ...

    def ask(self, asker: Asker | None, background: BackgroundQueue) -> None: ...


@dataclass(slots=True)
class Follower:
    """The logs of one job; a model, if there is one, is asked once and beside the loop."""

    paths: Sequence[Path]
    tracker: JobTracker
    curves: bool = False
    asked: bool = False
    paid: Cost | None = None
    watches: list[WriterWatch] = field(default_factory=list)

    def look(self, now: float) -> Look:
        writers = self._writers(now)
        progress = self.tracker.poll(now, writing="writing" in writers)
        over = progress.phase in OVER
        if not over and "gone" in writers and "writing" not in writers:
            progress, over = self._after_its_process(progress, now), True
        if self.paid is not None:
            progress = replace(progress, cost=replace(self.paid, seconds=progress.cost.seconds))
        return Look(
            progress,
            self._silent_s(now),
            over,
            failure_line(self.paths) if progress.phase == "failed" else "",
            self.tracker.curves() if self.curves else None,
        )

    def ask(self, asker: Asker | None, background: BackgroundQueue) -> None:
        if asker is None or self.asked:
            return
        question = self.tracker.question()
        if question is None:
            return
        self.asked = True
        background.submit(
            str(self.paths[0]),
            lambda: ask(question, asker),
            lambda answer, _: self._settle(question, answer),
        )

    def _settle(self, question: Question, answer: Answer[Roles]) -> None:
        self.paid = answer.cost
        self.tracker.settle(question, answer.value)

    def _writers(self, now: float) -> set[str]:
        if not self.watches:
            self.watches = [WriterWatch(path) for path in self.paths]
        return {watch.look(now) for watch in self.watches}

    def _after_its_process(self, progress: Progress, now: float) -> Progress:
        """How it ended is unknown, but for what the log shows."""
        done = progress.fraction
        if done is not None and done >= _NEARLY:
            return self.tracker.poll(now, ended="finished")
        left = self.tracker.poll(now, gone=True)
        if left.phase in OVER:
            return left
        early = "" if done is None else " before its total"
        note = f"its process has ended{early}; how is unknown"
        return replace(left, phase="unknown", eta_s=None, rate_per_s=None, note=note)

    def _silent_s(self, now: float) -> float | None:
        written = []
        for path in self.paths:
            try:
                written.append(path.stat().st_mtime)
            except OSError:
                continue
        return max(0.0, now - max(written)) if written else None


def looks(followers: Sequence[Followed], interval: float, asker: Asker | None) -> Looks:
    background = BackgroundQueue()
    try:
        while True:
            now = time.time()
            background.deliver(now)
            seen = [follower.look(now) for follower in followers]
            yield seen
            if all(look.over for look in seen):
                return
            for follower in followers:
                follower.ask(asker, background)
            time.sleep(interval)
    finally:
        background.close()


def changes(seen: Looks) -> Iterator[Look]:
    """Only progress that differs by more than the time that has passed."""
    shown: dict[int, Progress] = {}
    for look in seen:
        for number, one in enumerate(look):
            timeless = _without_time(one.progress)
            if shown.get(number) != timeless:
                shown[number] = timeless
                yield one


def _without_time(progress: Progress) -> Progress:
    slowdown = progress.slowdown and replace(progress.slowdown, factor=0.0)
    timeless = replace(progress, elapsed_s=None, eta_s=None, fraction=None, rate_per_s=None)
    return replace(timeless, slowdown=slowdown, silence=None, cost=Cost())

"""Looking at the logs of some jobs again and again until they are over."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedmate.cli._progress import OVER
from schedmate.model import Cost
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.tracker.unknown import ask

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.model import Answer, Asker, Progress
    from schedmate.tracker import JobTracker
    from schedmate.tracker.unknown import Question, Roles

Looks = Iterator["list[tuple[Progress, float | None]]"]
"""The progress of all jobs, each with how long its logs have been silent."""


@dataclass(slots=True)
class Follower:
    """One job; a model, if there is one, is asked once and beside the loop."""

    paths: Sequence[Path]
    tracker: JobTracker
    asked: bool = False
    paid: Cost | None = None

    def look(self, now: float) -> tuple[Progress, float | None]:
        progress = self.tracker.poll(now)
        if self.paid is not None:
            progress = replace(progress, cost=replace(self.paid, seconds=progress.cost.seconds))
        return progress, self._silent_s(now)

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

    def _silent_s(self, now: float) -> float | None:
        written = []
        for path in self.paths:
            try:
                written.append(path.stat().st_mtime)
            except OSError:
                continue
        return max(0.0, now - max(written)) if written else None


def looks(followers: Sequence[Follower], interval: float, asker: Asker | None) -> Looks:
    background = BackgroundQueue()
    try:
        while True:
            now = time.time()
            background.deliver(now)
            seen = [follower.look(now) for follower in followers]
            yield seen
            if all(progress.phase in OVER for progress, _ in seen):
                return
            for follower in followers:
                follower.ask(asker, background)
            time.sleep(interval)
    finally:
        background.close()


def changes(seen: Looks) -> Iterator[tuple[Progress, float | None]]:
    """Only progress that differs by more than the time that has passed."""
    shown: dict[int, Progress] = {}
    for look in seen:
        for number, (progress, silent_s) in enumerate(look):
            timeless = _without_time(progress)
            if shown.get(number) != timeless:
                shown[number] = timeless
                yield progress, silent_s


def _without_time(progress: Progress) -> Progress:
    slowdown = progress.slowdown and replace(progress.slowdown, factor=0.0)
    timeless = replace(progress, elapsed_s=None, eta_s=None, fraction=None, rate_per_s=None)
    return replace(timeless, slowdown=slowdown, cost=Cost())

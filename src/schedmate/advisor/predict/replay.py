"""A site's past once more, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from schedmate.advisor.predict.facts import Ran

EventKind = Literal["submit", "start", "end"]


@dataclass(frozen=True, slots=True)
class Event:
    at: float
    kind: EventKind
    run: Ran


def replay(runs: Iterable[Ran]) -> Iterator[Event]:
    """What ended as another was submitted had ended before; a job's own events keep order."""
    events: list[tuple[float, int, int, EventKind]] = []
    known = list(runs)
    for number, run in enumerate(known):
        came = run.facts.submitted_at
        started, ended = max(run.started_at, came), max(run.ended_at, came)
        events.append((came, 2, number, "submit"))
        events.append((started, 1 if started > came else 3, number, "start"))
        events.append((ended, 0 if ended > started else 4, number, "end"))
    for at, _, number, kind in sorted(events):
        yield Event(at, kind, known[number])

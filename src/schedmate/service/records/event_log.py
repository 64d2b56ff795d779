"""The log of the events that were sent to the decision engine, for replays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.core import EVENTS, JobSeen, Started, job_of
from schedmate.model import BadInput
from schedmate.model.wire import dumps, loads
from schedmate.store import KeptEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.core import Event, Instruction
    from schedmate.model import Job, JobId
    from schedmate.store import EventLog

MOST_EVENTS = 300_000
"""Some 200 MB; a cluster with a thousand jobs a day fills it in weeks."""
STARTED = Started.__name__
"""A log without its beginning keeps the newest start: it has the settings."""
_PAGE = 10_000


class Recorder:
    """Collects events and writes them together: at the latest before anything is done.

    A job that is seen unchanged, and from which nothing follows, is not worth a row: the engine
    that replays the rest decides the same.
    """

    def __init__(self, log: EventLog, *, most: int = MOST_EVENTS) -> None:
        self._log = log
        self._most = most
        self._waiting: list[KeptEvent] = []
        self._seen: dict[JobId, Job] = {}

    def note(self, event: Event, instructions: Sequence[Instruction]) -> None:
        if isinstance(event, JobSeen):
            before = self._seen.get(event.job.id)
            self._seen[event.job.id] = event.job
            if before == event.job and not instructions:
                return
        self._waiting.append(kept(event))

    def forget(self, job_id: JobId) -> None:
        self._seen.pop(job_id, None)

    def flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._log.keep_events(waiting, most=self._most, head=STARTED)


def leave_for_daemon(log: EventLog, event: Event) -> None:
    """A verb's event: a running daemon sends it at its next look, another one as it starts."""
    log.keep_events([kept(event)], most=MOST_EVENTS, head=STARTED, handled=False)


def kept(event: Event) -> KeptEvent:
    return KeptEvent(
        at=event.at, kind=type(event).__name__, job_id=job_of(event), body=dumps(event)
    )


def opened(row: KeptEvent) -> Event:
    """The event of a row; BadInput where it is none that this version knows."""
    if row.kind not in EVENTS:
        raise BadInput(f"this version of SchedMate does not know the event {row.kind!r}")
    return loads(EVENTS[row.kind], row.body)


def all_events(log: EventLog) -> Iterator[KeptEvent]:
    """The whole log, oldest first, a page at a time."""
    after = 0
    while page := log.events(after=after, limit=_PAGE):
        yield from page
        after = page[-1].id

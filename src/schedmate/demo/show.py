"""Submits the jobs, watches them, and notes what was known when."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.demo.plan import TODAY, YESTERDAY, DemoPart
from schedmate.model import Job, JobId, JobState, SchedMateError, Submission
from schedmate.service.usecases.submit import submit
from schedmate.service.views.job_view import JobView, job_views
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedmate.demo.stage import Stage

_LOOK_S = 0.5
_SETTLED_S = 3.0
"""How long nothing may happen any more before the play is over."""
_LONGEST_S = 600.0
_RETRIES = 2


@dataclass(frozen=True, slots=True)
class DemoSample:
    """What was predicted about the end of a running job at one moment."""

    at: float
    attempt: int
    ends_at: float


@dataclass(slots=True)
class Record:
    """A job of the play, and all that was seen of it."""

    part: DemoPart
    job_id: JobId
    today: bool
    view: JobView | None = None
    runs: dict[int, Job] = field(default_factory=dict)
    samples: list[DemoSample] = field(default_factory=list)

    def note(self, view: JobView, now: float) -> None:
        before = None if self.view is None else self.view.job
        self.view = view
        job = view.job
        if (
            before is not None
            and before.state is JobState.RUNNING
            and before.restarts < job.restarts
        ):
            # a run that is requeued while it runs is never seen to end
            self.runs[before.restarts] = replace(before, state=JobState.CANCELLED, end_time=now)
        if job.state.ended:
            self.runs[job.restarts] = job
        left = view.remaining_s(now)
        if left is not None:
            self.samples.append(DemoSample(now, job.restarts, now + left.p50))

    @property
    def settled(self) -> bool:
        """Ended, and if it failed, diagnosed: only a retry could still change something."""
        if self.view is None or not self.view.job.state.ended:
            return False
        job = self.view.job
        return not job.state.failed or job.restarts in self.view.diagnoses


class Show:
    """`on_look` is called after every look, with the views and the time, `on_today` once
    when the first tries are over: what disturbs them would spoil the history.
    """

    def __init__(
        self,
        stage: Stage,
        on_look: Callable[[list[JobView], float], None],
        on_today: Callable[[], None] = lambda: None,
    ) -> None:
        self._stage = stage
        self._on_look = on_look
        self._on_today = on_today
        self._scheduler = open_scheduler(stage.settings)
        self._store = open_store(stage.settings)
        self._viewer = viewer_of(stage.settings)
        self.records: dict[JobId, Record] = {}

    def play(self) -> list[Record]:
        """Run all jobs to their ends and return what was seen."""
        self._submit(YESTERDAY, today=False)
        self._watch()
        self._on_today()
        self._submit(TODAY, today=True)
        self._watch()
        self._add_earlier_runs()
        return list(self.records.values())

    def _submit(self, parts: Iterable[DemoPart], *, today: bool) -> None:
        for part in parts:
            submission = Submission(
                command=(sys.executable, part.script, *part.args),
                workdir=str(self._stage.workdir),
                name=part.name,
            )
            job_id = submit(self._stage.settings, submission).job_id
            self.records[job_id] = Record(part, job_id, today)
            self._look()

    def _watch(self) -> None:
        give_up = time.monotonic() + _LONGEST_S
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < _SETTLED_S:
            self._look()
            if not all(record.settled for record in self.records.values()):
                quiet_since = time.monotonic()
            if time.monotonic() > give_up:
                raise SchedMateError(f"the jobs did not end in {_LONGEST_S:g} s; see the logs")
            time.sleep(_LOOK_S)

    def _look(self) -> None:
        now = time.time()
        views = job_views(self._scheduler, self._store, self._viewer)
        for view in views:
            self.records[view.job.id].note(view, now)
        self._on_look(views, now)

    def _add_earlier_runs(self) -> None:
        """A run may have ended and been requeued between two looks; the history has it."""
        for record in self.records.values():
            last = max(record.runs, default=0)
            for attempt in set(range(last)) - set(record.runs):
                run = self._store.run(record.job_id, attempt)
                if run is not None:
                    record.runs[attempt] = run.job


def went_as_planned(record: Record) -> bool:
    """Whether the job ended as it should: none was lost, run twice or retried in vain."""
    view = record.view
    if view is None or view.job.state is not record.part.ends_as:
        return False
    most = _RETRIES if record.part.fails and view.job.state is not JobState.FAILED else 0
    return view.job.restarts <= most

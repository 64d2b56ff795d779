"""Submits the jobs, watches them, and notes what was known when."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.demo.plan import TODAY, YESTERDAY, DemoPart
from schedmate.model import Job, JobId, JobState, SchedMateError, Submission
from schedmate.schedulers.base import MeasuresActivity
from schedmate.service.usecases.submit import submit
from schedmate.service.views.job_view import JobView, job_views, retry_outcome
from schedmate.service.visibility import viewer_of
from schedmate.service.wiring import open_scheduler, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from schedmate.demo.stage import Stage

_LOOK_S = 0.5
_STILL_S = 120.0
"""How long nothing may move before the rest is given up."""
_MEASURED_AFTER_S = 10.0
_COMPUTES_S = 0.05
"""A job that waits for ever uses less."""
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
        """Ended, and if it failed, diagnosed and decided about, and not about to run again."""
        if self.view is None or not self.view.job.state.ended:
            return False
        if not self.view.job.state.failed:
            return True
        retry = retry_outcome(self.view.job, self.view.diagnoses, self.view.actions)
        decided = None if retry is None else retry.record
        if retry is None or decided is None or retry.attempt != self.view.job.restarts:
            return False
        return decided.action.kind != "requeue" or decided.state not in ("intended", "done")


class Show:
    """`on_look` is called after every look, with the views and the time.

    It goes on for as long as something moves, and ends when nothing has for `still_s`.
    """

    def __init__(
        self,
        stage: Stage,
        on_look: Callable[[list[JobView], float], None],
        *,
        yesterday: Sequence[DemoPart] = YESTERDAY,
        today: Sequence[DemoPart] = TODAY,
        still_s: float = _STILL_S,
    ) -> None:
        self._stage = stage
        self._on_look = on_look
        self._yesterday, self._today = yesterday, today
        llm = stage.settings.llm
        self._still_s = still_s + (llm.deadline_s if llm.enabled else 0.0)
        self._scheduler = open_scheduler(stage.settings)
        self._store = open_store(stage.settings)
        self._viewer = viewer_of(stage.settings)
        self._seen: object = None
        self._computed_s = 0.0
        self._moved_at = time.monotonic()
        self.records: list[Record] = []
        self.trouble = ""
        """Why a look or a submission failed last."""

    def play(self) -> bool:
        """Run all jobs to their ends; return whether they all came there."""
        for parts, today in ((self._yesterday, False), (self._today, True)):
            self._submit(parts, today=today)
            if not self._watch():
                return False
        return all(record.job_id for record in self.records)

    def add_earlier_runs(self) -> None:
        """A run may have ended and been requeued between two looks; the history has it."""
        for record in self.records:
            last = max(record.runs, default=0)
            for attempt in set(range(last)) - set(record.runs):
                run = self._store.run(record.job_id, attempt)
                if run is not None:
                    record.runs[attempt] = run.job

    def _submit(self, parts: Iterable[DemoPart], *, today: bool) -> None:
        for part in parts:
            submission = Submission(
                command=(sys.executable, part.script, *part.args),
                workdir=str(self._stage.workdir),
                name=part.name,
            )
            record = Record(part, "", today)
            self.records.append(record)
            with self._noting_trouble():
                record.job_id = submit(self._stage.settings, submission).job_id
            self._look()

    def _watch(self) -> bool:
        self._moved_at = time.monotonic()
        while time.monotonic() - self._moved_at < self._still_s:
            self._look()
            if all(self._is_over(record) for record in self.records):
                return True
            time.sleep(_LOOK_S)
        return False

    def _is_over(self, record: Record) -> bool:
        """Nothing more will happen, and the next prediction knows how it went."""
        if not record.job_id:
            return True  # what could not be submitted will not end
        job = None if record.view is None else record.view.job
        return (
            record.settled and job is not None and self._store.run(job.id, job.restarts) is not None
        )

    def _look(self) -> None:
        now = time.time()
        views: list[JobView] = []
        with self._noting_trouble():
            views = job_views(self._scheduler, self._store, self._viewer)
        by_id = {view.job.id: view for view in views}
        for record in self.records:
            if record.job_id in by_id:
                record.note(by_id[record.job_id], now)
        self._note_movement(views)
        self._on_look(views, now)

    def _note_movement(self, views: Sequence[JobView]) -> None:
        """A new state, a new line, or a silent job that computes."""
        seen = [
            (view.job.id, view.job.state, view.job.restarts, len(view.diagnoses), _place(view))
            for view in views
        ]
        moves = seen != self._seen
        if not moves and time.monotonic() - self._moved_at > _MEASURED_AFTER_S:
            computed_s = self._measure_jobs([view.job for view in views])
            moves = abs(computed_s - self._computed_s) > _COMPUTES_S
            self._computed_s = computed_s if moves else self._computed_s
        if moves:
            self._seen, self._moved_at = seen, time.monotonic()

    def _measure_jobs(self, jobs: Sequence[Job]) -> float:
        """Seconds of the processor that running jobs have used."""
        running = [job for job in jobs if job.state is JobState.RUNNING]
        if not running or not isinstance(self._scheduler, MeasuresActivity):
            return 0.0
        return sum(one.cpu_s or 0.0 for one in self._scheduler.activity(running).values())

    @contextmanager
    def _noting_trouble(self) -> Iterator[None]:
        """What fails once may well go the next time; what never goes ends the play."""
        try:
            yield
        except (SchedMateError, OSError) as error:
            self.trouble = str(error)


def _place(view: JobView) -> object:
    return view.progress and (view.progress.current, view.progress.epoch, view.progress.phase)


def went_as_planned(record: Record) -> bool:
    """Whether the job ended as it should: none was lost, run twice or retried in vain."""
    view = record.view
    if view is None or view.job.state is not record.part.ends_as:
        return False
    most = _RETRIES if record.part.fails and view.job.state is not JobState.FAILED else 0
    return view.job.restarts <= most

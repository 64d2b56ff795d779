"""How far a running job is and when it ends, from nothing but its logs."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from schedmate.files import INVOKER, Reader
from schedmate.logs.file_times import WrittenSpan, written_span
from schedmate.model import (
    BadInput,
    Cost,
    EarlierRun,
    LearnedPattern,
    Prediction,
    Progress,
    RunCourse,
    RunProfile,
    Workload,
)
from schedmate.model.wire import dumps
from schedmate.tracker.curves import LossCurve, RunCurves
from schedmate.tracker.facts import Facts
from schedmate.tracker.forecasting.forecast import passed
from schedmate.tracker.forecasting.rhythm import Rhythm
from schedmate.tracker.forecasting.step_schedule import StepSchedule
from schedmate.tracker.phases import known_pause
from schedmate.tracker.report import curves_from, profile_from, progress_of
from schedmate.tracker.resuming import course_of, resume_of
from schedmate.tracker.scan import LogScan
from schedmate.tracker.tailing.budget import ReadBudget
from schedmate.tracker.tailing.tailer import LogTailer
from schedmate.tracker.tracker_state import VERSION, TrackerState, restored
from schedmate.tracker.unknown import Question
from schedmate.tracker.unknown.pattern import for_later_runs

if TYPE_CHECKING:
    from schedmate.tracker.unknown import Roles

STALL_FLOOR_S = 300.0
"""A shorter silence is never shown as a stall, however fast the log was."""
_GOOD_FOR_S = 2.0


class JobTracker:
    """Tracks all logs of one run of a job; `poll` is cheap when nothing was written.

    `similar` are profiles of similar finished runs, `limit_s` is when the scheduler ends this one,
    `schedule` is by what the code makes its steps larger, `whole` that no earlier run has written
    to the same logs, `after` the run from which it may go on,
    `pattern` is what was learnt about the logs of an earlier run of the same code. With the
    `state` of an earlier tracker nothing is read twice. The logs are opened by `reader`. `curves`
    keeps the course of the loss.
    """

    def __init__(
        self,
        logs: Sequence[Path],
        *,
        started_at: float | None = None,
        workload: Workload | None = None,
        prediction: Prediction | None = None,
        similar: Sequence[RunProfile] = (),
        limit_s: float | None = None,
        schedule: StepSchedule | None = None,
        pattern: LearnedPattern | None = None,
        state: str | None = None,
        reader: Reader = INVOKER,
        stall_floor_s: float = STALL_FLOOR_S,
        curves: bool = False,
        whole: bool = True,
        after: EarlierRun | None = None,
    ) -> None:
        self._started_at = started_at
        self._whole = whole
        self._curves = curves
        self._reader = reader
        self._given = pattern
        self._known = Facts(
            logs=tuple(str(log) for log in logs),
            scans=(),
            workload=workload,
            prediction=prediction,
            similar=similar,
            limit_s=limit_s,
            code_schedule=schedule,
            started_at=started_at,
        )
        before = restored(state)
        known = {} if before is None else before.by_path()
        places = [known.get(str(path)) for path in logs]
        self._tailers = [
            LogTailer(path, place and place[0], reader=reader)
            for path, place in zip(logs, places, strict=True)
        ]
        self._resumed = before is not None and bool(before.scans)
        self._before = after if before is None or before.before is None else before.before
        self._scans = [(place and place[1]) or self._new_scan() for place in places]
        rhythm = Rhythm(floor_s=stall_floor_s, started_at=started_at)
        self._rhythm = before.rhythm if before is not None and self._resumed else rhythm
        self._seconds = 0.0 if before is None else before.seconds
        self._resume = None if before is None else before.resume
        self._first_look = True
        self._pause = known_pause(self._scans)
        self._asked: LogScan | None = None
        self._bars: list[bytes | None] = [None for _ in logs]
        self._news = False
        self._answer: Progress | None = None
        self._answered_at = 0.0
        self._first_log = 0
        self._left_out = False
        self._skipped = 0

    def poll(
        self,
        now: float,
        *,
        ended: Literal["finished", "failed"] | None = None,
        writing: bool = False,
        gone: bool = False,
        budget: ReadBudget | None = None,
    ) -> Progress:
        """Read what is new in all logs and report the progress.

        `ended` is how the run ended, by its process or its scheduler; `writing` is whether a
        process is known to have a log open, `gone` that none has any more. Where the `budget` is
        spent before all is read, the tracker is `behind` and the next poll goes on.
        """
        before = time.perf_counter()
        if self._first_look and not self._resumed:
            self._skip_earlier_runs()
        self._news = False
        known, patient = self._lines, self._pause is not None
        news = self._look_at_all(now, budget)
        if self._first_look and not self._resumed:
            self._catch_up(now)
        else:
            lines = self._lines - known
            self._rhythm.observe(now, wrote=any(news), lines=lines, patient=patient)
        self._first_look = False
        if self._news:
            self._pause = known_pause(self._scans)
        progress = None if self._news or ended or gone else self._little_later(now)
        if progress is None:
            facts = replace(self._facts(now), ended=ended, writing=writing, gone=gone)
            progress, self._answered_at = self._with_resume(progress_of(facts)), now
            self._answer = progress
        self._seconds += time.perf_counter() - before
        return self._noted(
            replace(
                progress,
                silence=self._rhythm.silence(now, self._pause),
                cost=Cost(seconds=round(self._seconds, 6)),
            )
        )

    def _with_resume(self, progress: Progress) -> Progress:
        """Once it is known it stays: what follows it is this run's own."""
        if self._resume is None and self._before is not None:
            self._resume = resume_of(self._before, self.course, progress)
        return replace(progress, resume=self._resume)

    def _noted(self, progress: Progress) -> Progress:
        """A log that cannot be read is not a silent one: a hang is not concluded from it."""
        refused = [tailer.path for tailer in self._tailers if tailer.refused]
        if not refused:
            return progress
        as_whom = f" as user {self._reader.user}" if self._reader.user else ""
        note = f"its log {refused[0]} cannot be read{as_whom}"
        if progress.phase != "stalled":
            return replace(progress, silence=None, note=note)
        warnings = tuple(one for one in progress.warnings if one.reason != "hang")
        return replace(progress, silence=None, note=note, phase="unknown", warnings=warnings)

    def _little_later(self, now: float) -> Progress | None:
        """The last answer, where nothing was written since and it is recent."""
        answer, seconds = self._answer, now - self._answered_at
        if answer is None or not 0 <= seconds < _GOOD_FOR_S:
            return None
        eta = None if answer.eta_s is None else passed(answer.eta_s, seconds)
        elapsed = None if answer.elapsed_s is None else answer.elapsed_s + seconds
        return replace(answer, eta_s=eta, elapsed_s=elapsed)

    @property
    def behind(self) -> bool:
        """Whether the last look did not reach the end of all logs."""
        return self._left_out or any(tailer.behind for tailer in self._tailers)

    def skip_to_tails(self) -> int:
        """Read only the ends of logs that are far behind; return how many bytes are left out."""
        skipped = sum(tailer.skip_to_tail() for tailer in self._tailers)
        self._skipped += skipped
        return skipped

    def state(self) -> str:
        """JSON with which another tracker goes on from here."""
        positions = [tailer.position for tailer in self._tailers]
        return dumps(
            TrackerState(
                version=VERSION,
                positions=positions,
                scans=self._scans,
                rhythm=self._rhythm,
                seconds=self._seconds,
                before=self._before,
                resume=self._resume,
            )
        )

    def left_by_it(self, progress: Progress, took_s: float) -> EarlierRun:
        """What its next run could go on from; `progress` is that of the last poll."""
        saved, resume = progress.checkpoint, progress.resume
        return EarlierRun(
            unit=progress.unit,
            done=progress.current,
            saved=None if saved is None else saved.step,
            saves=saved is not None,
            course=self.course,
            took_s=took_s + (0.0 if resume is None else resume.before_s),
        )

    @property
    def course(self) -> RunCourse:
        """Where the run began, as far as its log shows it."""
        return course_of(self._facts(None))

    def profile(self) -> RunProfile | None:
        """How the run went, for the next one like it; after the last look at an ended run."""
        return None if self._skipped else profile_from(self._facts(None))

    def curves(self) -> RunCurves | None:
        """The course of loss and speed so far, where it is kept."""
        return curves_from(self._facts(None))

    @property
    def pattern(self) -> LearnedPattern | None:
        """What was learnt about the lines of these logs for the next run of the same code."""
        learnt = next((scan.pattern for scan in self._scans if scan.pattern is not None), None)
        return None if learnt is None else for_later_runs(learnt)

    def question(self) -> Question | None:
        """What a model could answer about lines that no format reads."""
        for scan in self._scans:
            question = scan.question()
            if question is not None:
                self._asked = scan
                return question
        return None

    def settle(self, question: Question, answer: Roles) -> None:
        if self._asked is not None:
            self._asked.settle(question, answer)
            self._answer = None

    def set_limit(self, limit_s: float | None) -> None:
        """The scheduler ends the run at another time than before."""
        self._known = replace(self._known, limit_s=limit_s)
        self._answer = None

    @property
    def _lines(self) -> int:
        return sum(tailer.lines for tailer in self._tailers)

    def _new_scan(self) -> LogScan:
        losses = LossCurve() if self._curves else None
        scan = LogScan(self._started_at, losses=losses, whole=self._whole)
        if self._given is not None:
            with contextlib.suppress(BadInput):  # learnt by another version, perhaps
                scan.adopt(self._given)
        return scan

    def _facts(self, now: float | None) -> Facts:
        return replace(self._known, scans=self._scans, rhythm=self._rhythm, now=now)

    def _look_at_all(self, now: float, budget: ReadBudget | None) -> list[bool]:
        """Which logs were written; those that a spent budget leaves out come first next time."""
        count, first, news = len(self._tailers), self._first_log, []
        self._left_out = False
        for turn in range(count):
            index = (first + turn) % count
            if turn and budget is not None and budget.spent:
                self._first_log, self._left_out = index, True
                break
            news.append(self._look(index, now, budget))
        return news

    def _look(self, index: int, now: float, budget: ReadBudget | None) -> bool:
        tailer, scan = self._tailers[index], self._scans[index]
        before = tailer.written_at
        clock = None if tailer.behind else self._clock(tailer, now)
        for lines in tailer.read_new(budget):
            if tailer.rewritten:
                tailer.rewritten = False
                scan = self._scans[index] = self._new_scan()
                scan.whole = True
            if budget is None:
                scan.feed(lines, clock)
            else:
                scan.feed(budget.allowed(lines), clock)
                tailer.hold(lines[budget.taken :])
            self._news = True
        if tailer.open_bar != self._bars[index] and tailer.open_bar is not None:
            scan.peek(tailer.open_bar, clock)
            self._news = True
        self._bars[index] = tailer.open_bar
        return tailer.written_at != before

    def _clock(self, tailer: LogTailer, now: float) -> float:
        """When the newest line was written: just now, but for what was there before we came."""
        if not self._first_look:
            return now
        try:
            return min(now, self._reader.stat(str(tailer.path)).st_mtime_ns / 1e9)
        except OSError:
            return now

    def _catch_up(self, now: float) -> None:
        for scan in self._scans:
            if scan.checkpoint is not None:
                scan.checkpoint = replace(scan.checkpoint, saved_at=None)
        times = [tailer.written_at for tailer in self._tailers]
        written_at = max((at for at in times if at is not None), default=None)
        if self._lines > 0 and written_at is not None:
            self._rhythm.catch_up(self._lines, until=min(written_at, now), now=now)
        if self._started_at is None:
            self._known = replace(self._known, written=self._written_span())

    def _written_span(self) -> WrittenSpan | None:
        """By the files' own times, where nothing else shows when the run began."""
        spans = []
        for tailer in self._tailers:
            try:
                opened = self._reader.open(str(tailer.path))
            except OSError:
                continue
            spans.append(written_span(opened))
            os.close(opened)
        return max((one for one in spans if one), key=lambda one: one.seconds, default=None)

    def _skip_earlier_runs(self) -> None:
        """What was written before this run started is the output of an earlier one."""
        if self._started_at is None:
            return
        for tailer, scan in zip(self._tailers, self._scans, strict=True):
            if tailer.written_before(self._started_at):
                tailer.skip_to_end()
                scan.whole = True

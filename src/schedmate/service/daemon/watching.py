"""Tracks the logs of the jobs that run."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from schedmate.core import is_opted_out
from schedmate.files import files_of
from schedmate.model import JobState, SchedMateError, StoreUnavailable
from schedmate.service.daemon.checkpoint_watch import CheckpointWatch
from schedmate.service.records.log_files import logs_of
from schedmate.service.records.run_record import EndedRun
from schedmate.service.records.run_tracking import TrackedRun, track_run
from schedmate.tracker.tailing.budget import ReadBudget
from schedmate.tracker.tracker_state import left_before, state_behind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from schedmate.core import CheckpointSeen
    from schedmate.model import EarlierRun, Job, JobId, Progress
    from schedmate.service.daemon.pattern_learning import PatternLearning
    from schedmate.store import Store

_SHARE = 0.12
"""Of a core, however many jobs run: with thousands each is looked at less often."""
_LEAST_LOOK_S, _LONGEST_LOOK_S = 0.05, 0.25
_LONGEST_WAIT_S = 1.0
"""Waiting for disks or for a busy machine costs no processor time, but holds up all else."""
_LONGEST_POLL_S = 0.1
"""Of the processor, for the logs of one run: one in which every line is new takes many looks."""
_LAST_POLLS_S = 0.2
"""Of one look, for all runs that ended; beyond that only the ends of their logs are read ..."""
_LONGEST_TAIL_S = 0.2
"""... which takes a tenth of this, unless someone chose every byte of them."""
_KEEP_EVERY_S = 1.0
_SAVE_EVERY_S = 5.0
_SAVE_FOR_S = 0.05
"""Of one look, so that a thousand jobs are written down over several of them."""
_Ended = Literal["finished", "failed"]
_ENDED: dict[JobState, _Ended] = {
    JobState.COMPLETED: "finished",
    JobState.FAILED: "failed",
    JobState.OUT_OF_MEMORY: "failed",
    JobState.NODE_FAIL: "failed",
}
"""What the scheduler's state leaves no doubt about; of the others the log shows how they ended."""
_log = logging.getLogger("schedmate.watching")


def _turn(one: TrackedRun) -> tuple[float, str]:
    """Those that wait longest first, and of these by user."""
    return one.looked_at, one.job.user


class LogWatcher:
    """`interactive` says of which jobs a silence means nothing."""

    def __init__(
        self,
        store: Store,
        learning: PatternLearning,
        interactive: Callable[[Job], bool] = lambda _: False,
        checkpoints: CheckpointWatch | None = None,
    ) -> None:
        self._interactive = interactive
        self.checkpoints = checkpoints or CheckpointWatch(lambda _: False)
        self.saved: list[CheckpointSeen] = []
        """What the last poll has found."""
        self._store = store
        self._learning = learning
        self._begun: dict[JobId, Job] = {}
        """Runs whose logs are opened when it is their turn: a daemon may start with thousands."""
        self._tracked: dict[JobId, TrackedRun] = {}
        self._looked_at = time.monotonic()
        self._last_polls_s = 0.0

    @property
    def jobs(self) -> frozenset[JobId]:
        return frozenset((*self._begun, *self._tracked))

    def begin(self, job: Job) -> None:
        """Track the logs of a run, from where an earlier daemon stopped if there was one.

        A new run of the job replaces the old.
        """
        self._tracked.pop(job.id, None)
        self._begun[job.id] = job

    def look(self, now: float) -> list[tuple[JobId, Progress]]:
        """Where the jobs stand; of very many only those that have waited longest."""
        self._last_polls_s, self.saved = 0.0, []
        self.checkpoints.begin_poll()
        polled = [(one, self._with_saved(one, what, now)) for one, what in self._poll_in_turn(now)]
        self._keep(polled, now)
        self._save([one for one, _ in polled], now)
        for one, _ in polled:
            self._learning.ask(one)
        return [(one.job.id, progress) for one, progress in polled]

    def _with_saved(self, one: TrackedRun, progress: Progress, now: float) -> Progress:
        workload = None if one.kept is None else one.kept.advice.workload
        seen = self.checkpoints.look(one.job, workload, progress, now)
        self.saved += [] if seen is None else [seen]
        return self.checkpoints.with_saved(one.job, progress)

    def end(self, job: Job) -> EndedRun | None:
        """Stop tracking, with a last look at what the run wrote before it ended."""
        one, begun = self._tracked.pop(job.id, None), self._begun.pop(job.id, None)
        if one is None and (begun or self._store.tracking(job.id, job.restarts) is not None):
            one = track_run(job, self._store)  # by a daemon that was gone before the run was over
        if one is None or job.end_time is None:
            return None
        progress = self._last_poll(one, job.end_time, _ENDED.get(job.state))
        if progress is None:
            return None
        self._store.keep_progress(job.id, job.restarts, progress, at=job.end_time)
        self._learning.note(one)
        return EndedRun(progress, one.tracker.profile(), one.tracker.course)

    def restart(self, before: Job, job: Job, now: float) -> None:
        """Its run was ended so that it waits again: keep what it left to the next one."""
        began = before.start_time or now
        ended = job.submit_time if job.submit_time > began else now
        one, begun = self._tracked.pop(job.id, None), self._begun.pop(job.id, None)
        if one is None and (begun or self._store.tracking(job.id, before.restarts) is not None):
            one = track_run(before, self._store)
        progress = None if one is None else self._last_poll(one, ended, None)
        if one is None or progress is None:
            return
        left = one.tracker.left_by_it(self.checkpoints.with_saved(before, progress), ended - began)
        self._begin_behind(job, left)

    def leave_for_next(self, job: Job) -> None:
        """All that is in the logs of a failed run is not the next one's."""
        if not job.earlier_logs and job.state.failed:
            self._begin_behind(replace(job, restarts=job.restarts + 1), None)

    def _begin_behind(self, job: Job, left: EarlierRun | None) -> None:
        kept = self._store.advice(job.id)
        logs = logs_of(job, None if kept is None else kept.advice.workload)
        state = state_behind(() if job.earlier_logs else logs, left, files_of(job.user))
        if state != self._store.tracking(job.id, job.restarts):
            self._store.keep_tracking(job.id, job.restarts, state)

    def see(self, job: Job) -> None:
        """What opts out while it runs is no longer read; its limit may be raised."""
        one = self._tracked.get(job.id)
        if is_opted_out(job):
            self.forget(job.id)
        elif one is not None and one.job.request.time_limit_s != job.request.time_limit_s:
            one.job = replace(one.job, request=job.request)
            one.tracker.set_limit(job.request.time_limit_s)
        elif job.restarts and job.state is JobState.PENDING and not job.earlier_logs:
            # the run before may write until it is stopped, or Slurm itself about it
            left = left_before(self._store.tracking(job.id, job.restarts))
            self._begin_behind(job, left)

    def forget(self, job_id: JobId) -> None:
        self._begun.pop(job_id, None)
        self._tracked.pop(job_id, None)
        self.checkpoints.forget(job_id)

    def close(self) -> None:
        """Write down where all logs were left."""
        try:
            with self._store.together():
                for one in self._tracked.values():
                    self._save_one(one)
        except SchedMateError as error:
            _log.warning("how far the logs were read is not kept: %s", error)

    def _poll_in_turn(self, now: float) -> list[tuple[TrackedRun, Progress]]:
        last, self._looked_at = self._looked_at, time.monotonic()
        share = _SHARE * (self._looked_at - last)
        until = time.thread_time() + min(_LONGEST_LOOK_S, max(_LEAST_LOOK_S, share))
        polled = []
        for one in self._in_turn():
            one.looked_at = self._looked_at
            progress = self._poll(one, now, ReadBudget(_LONGEST_POLL_S), running=True)
            if progress is not None:
                polled.append((one, progress))
            if time.thread_time() > until or time.monotonic() > self._looked_at + _LONGEST_WAIT_S:
                break
        return polled

    def _in_turn(self) -> Iterator[TrackedRun]:
        """Those that were never looked at, then those that wait longest."""
        before = sorted(self._tracked.values(), key=_turn)
        for job in sorted(self._begun.values(), key=lambda job: job.user):
            try:
                one = track_run(job, self._store)
            except StoreUnavailable:
                raise
            except Exception:  # noqa: BLE001 - as with `_poll`
                _log.exception("the logs of job %s cannot be tracked", job.id)
                self.forget(job.id)
                continue
            del self._begun[job.id]
            self._tracked[job.id] = one
            yield one
        yield from before

    def _last_poll(self, one: TrackedRun, now: float, ended: _Ended | None) -> Progress | None:
        """Read to the end of the logs; where that takes too long, leave out all before it."""
        begun = time.thread_time()
        budget = ReadBudget(_LAST_POLLS_S - self._last_polls_s)
        progress = self._poll(one, now, budget, ended)
        while progress is not None and one.tracker.behind and not budget.spent:
            progress = self._poll(one, now, budget, ended)
        if progress is not None and one.tracker.behind:
            left_out = one.tracker.skip_to_tails()
            _log.info(
                "job %s: %d bytes of its logs were not read",
                one.job.id,
                left_out,
                extra={"job": one.job.id},
            )
            progress = self._poll(one, now, ReadBudget(_LONGEST_TAIL_S), ended)
        self._last_polls_s += time.thread_time() - begun
        return progress

    def _poll(
        self,
        one: TrackedRun,
        now: float,
        budget: ReadBudget,
        ended: _Ended | None = None,
        *,
        running: bool = False,
    ) -> Progress | None:
        """What the scheduler calls running is not finished, whatever its log counts."""
        try:
            progress = one.tracker.poll(now, ended=ended, writing=running, budget=budget)
            return self._as_shown(one, progress)
        except Exception:  # noqa: BLE001 - one strange log must not blind us to all others
            _log.exception(
                "the logs of job %s cannot be tracked", one.job.id, extra={"job": one.job.id}
            )
            self.forget(one.job.id)
            return None

    def _as_shown(self, one: TrackedRun, progress: Progress) -> Progress:
        """An idle notebook has not stalled."""
        if progress.phase != "stalled" or not self._waits(one.job):
            return progress
        warnings = tuple(each for each in progress.warnings if each.reason != "hang")
        return replace(progress, phase="unknown", warnings=warnings)

    def _waits(self, job: Job) -> bool:
        try:
            return self._interactive(job)
        except SchedMateError:
            return False

    def _keep(self, polled: Iterable[tuple[TrackedRun, Progress]], now: float) -> None:
        """Verbs show it, but need it less often than the daemon."""
        due = [
            (one, what) for one, what in polled if abs(now - one.progress_kept_at) >= _KEEP_EVERY_S
        ]
        if not due:
            return
        with self._store.together():
            for one, progress in due:
                one.progress_kept_at = now
                self._store.keep_progress(one.job.id, one.job.restarts, progress, at=now)

    def _save(self, polled: Iterable[TrackedRun], now: float) -> None:
        """So that a daemon after this one reads nothing twice; those that wait longest first."""
        due = [one for one in polled if abs(now - one.state_kept_at) >= _SAVE_EVERY_S]
        if not due:
            return
        until = time.perf_counter() + _SAVE_FOR_S
        with self._store.together():
            for one in sorted(due, key=lambda one: one.state_kept_at):
                self._find_more_logs(one)
                self._learning.note(one)
                self._save_one(one)
                one.state_kept_at = now
                if time.perf_counter() > until:
                    break

    def _save_one(self, one: TrackedRun) -> None:
        self._store.keep_tracking(one.job.id, one.job.restarts, one.tracker.state())

    def _find_more_logs(self, one: TrackedRun) -> None:
        """A run opens files of its own when it comes to them; all that was read stays read."""
        workload = None if one.kept is None else one.kept.advice.workload
        if workload is None or workload.log_files is None:
            return
        if not set(logs_of(one.job, workload)) <= set(one.logs):
            again = track_run(one.job, self._store, one.tracker.state())
            one.logs, one.tracker = again.logs, again.tracker

"""The live shell around the decision engine: sees the scheduler, sends events, carries out.

Everything it does can be repeated after a crash: advice, diagnoses and actions that are in the
store already are taken from there.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from schedmate.core import (
    Act,
    ActivitySeen,
    Advise,
    DecisionEngine,
    Diagnose,
    Event,
    Instruction,
    JobAdvised,
    JobForgotten,
    JobSeen,
    Measure,
    NodeSeen,
    Past,
    Reconsider,
    Remember,
    Started,
    Stopping,
    Track,
)
from schedmate.model import Action, Asker, Job, JobId, JobState, errors
from schedmate.service.daemon.activity import Activities
from schedmate.service.daemon.background import BackgroundQueue
from schedmate.service.daemon.code_completion import CodeCompletion
from schedmate.service.daemon.failures import Failures
from schedmate.service.daemon.following import RunFollower
from schedmate.service.daemon.gpu_sharing import GpuSharing
from schedmate.service.daemon.job_reading import MOST_SCRIPTS, JobReader
from schedmate.service.daemon.pattern_learning import PatternLearning
from schedmate.service.daemon.rivals import Rivals
from schedmate.service.daemon.site_model_updater import SiteModelUpdater
from schedmate.service.daemon.verb_events import VerbEvents
from schedmate.service.records.attempts import past_of
from schedmate.service.records.earlier_runs import EarlierRuns
from schedmate.service.records.event_log import Recorder
from schedmate.service.records.lateness import LatenessKept
from schedmate.service.records.listed_jobs import ListedJobs, starts_next
from schedmate.service.records.nodes import NodeKnowledge
from schedmate.service.records.run_record import measured_gpus, run_that_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from schedmate.advisor import Advisor, Target
    from schedmate.advisor.advisor import Advised
    from schedmate.handler import Handler
    from schedmate.schedulers.base import Scheduler
    from schedmate.service.actions import Actions
    from schedmate.store import Store

_RETRY_AFTER_S = 60.0
_PLACELESS_S = 2.0
"""How long new jobs may be read before all of them have a provisional place in the queue."""
_NODES_APART_S = 300.0
_log = logging.getLogger("schedmate.daemon")


class Daemon:
    def __init__(
        self,
        *,
        engine: DecisionEngine,
        settings: Mapping[str, str] | None = None,
        scheduler: Scheduler,
        store: Store,
        advisor: Advisor,
        handler: Handler,
        actions: Actions,
        asker: Asker | None = None,
        open_store: Callable[[], Store] | None = None,
        train_beside: Callable[[float], bool] = lambda _: False,
        advise_with_model: Callable[[Target], Advised] | None = None,
        own_files: Path | None = None,
        most_scripts: int = MOST_SCRIPTS,
        drains: bool = False,
        gpu_memory_gb: float | None = None,
        check_cluster: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._settings = settings or {}
        self._scheduler = scheduler
        self._check_cluster = check_cluster
        self._store = store
        self._reader = JobReader(scheduler, store, advisor, most_scripts)
        self._actions = actions
        self._nodes = NodeKnowledge(scheduler, store)
        self._background = BackgroundQueue()
        self._site_model = SiteModelUpdater(store, self._background, open_store, train_beside)
        self._completion = CodeCompletion(store, self._background, advise_with_model)
        self._activities = Activities(scheduler, own_files)
        self._suspects: list[Job] = []
        self._to_diagnose: dict[JobId, Diagnose] = {}
        """What follows from a failure depends on the other jobs: all are seen before."""
        self._failures = Failures(
            engine=engine,
            store=store,
            handler=handler,
            nodes=self._nodes,
            background=self._background,
            send=self._send_about,
            rivals=Rivals(engine, store, scheduler, self._reader, self._nodes),
        )
        learning = PatternLearning(store, self._background, asker)
        sharing = GpuSharing(engine, store, scheduler, gpu_memory_gb)
        self._runs = RunFollower(engine, store, learning, self._activities.interactive, sharing)
        self._watching = self._runs.logs
        self._recorder = Recorder(store)
        self._lateness = LatenessKept(store)
        self._verb_events = VerbEvents(store, engine, actions, self._send)
        self._listed = ListedJobs(store)
        self._earlier_runs = EarlierRuns(scheduler, store)
        self._look_at_nodes: float | None = 0.0 if drains else None
        self._retry_at: dict[JobId, float] = {}
        self._started = False
        self._to_advise: dict[JobId, None] = {}  # in this look or in a later one
        self._provisional: dict[JobId, Action] = {}
        """Places in the queue for jobs that are about to be read in this look."""

    def cycle(self, now: float) -> None:
        """Look once at everything and do what follows from it."""
        if not self._started:
            self._check_cluster()
        jobs = self._listed.keep(self._scheduler.jobs())
        if not self._started:
            self._started = True
            self._send(Started(now, self._settings))
        self._forget_all_but({job.id: job for job in jobs}, now)
        self._verb_events.send_reverts()
        self._earlier_runs.remember(self._listed.restarted)
        for before, job in self._listed.restarted:
            self._watching.restart(before, job, now)
        self._reader.begin_poll()
        for job in sorted(jobs, key=starts_next):
            if now >= self._retry_at.get(job.id, 0.0):
                self._see(job, now)
        self._diagnose_all(now)
        self._failures.settle(now)
        self._advise_all_pending(now)
        self._reader.write_down()
        for event in self._runs.events(now):
            self._send(event)
        self._measure_suspects(now)
        self._diagnose_all(now)
        self._failures.read_again(now)
        self._suspect_nodes(now)
        self._verb_events.send_all()
        self._site_model.consider(now)
        self._background.deliver(now)
        self._failures.deliver(now)
        self._finish(now)
        if self._lateness.is_due(now):
            self._lateness.keep(self._engine.all_late_s(), now)

    def _advise_all_pending(self, now: float) -> None:
        """A job that is read at once gets its final place only; none waits long for a place."""
        until = time.monotonic() + _PLACELESS_S
        waiting = [self._engine.known[job_id].job for job_id in self._to_advise]
        for job in sorted(waiting, key=starts_next):
            if self._reader.is_spent:
                break
            if time.monotonic() > until:
                self._place_provisionally(now)
            del self._to_advise[job.id]
            self._advise_pending(job, now)
        self._place_provisionally(now)

    def _place_provisionally(self, now: float) -> None:
        places, self._provisional = self._provisional, {}
        for action in places.values():
            self._act(action, now)

    def _measure_suspects(self, now: float) -> None:
        """All that are due, with one question."""
        suspects, self._suspects = self._suspects, []
        if not suspects:
            return
        listed = [known.job for known in self._engine.known.values()]
        found = self._activities.of(suspects, listed)
        for job in suspects:
            if job.id in found:
                self._send(ActivitySeen(now, job.id, job.restarts, found[job.id]))

    def _diagnose_all(self, now: float) -> None:
        while self._to_diagnose:
            wanted = self._to_diagnose.pop(next(iter(self._to_diagnose)))
            job, hung = wanted.job, wanted.hung
            self._send_about(job, now, partial(self._failures.diagnose, job, now, hung=hung))

    def _suspect_nodes(self, now: float) -> None:
        """Only where the site lets nodes be drained: nothing else follows from them."""
        if self._look_at_nodes is None or now < self._look_at_nodes:
            return
        self._look_at_nodes = now + _NODES_APART_S
        for suspect in self._nodes.suspects(now):
            self._send(NodeSeen(now, suspect))

    def finish_diagnoses(self, now: float) -> None:
        """Wait for those whose logs take long, and do what follows from them."""
        self._failures.finish(now)
        self._recorder.flush()

    def stop(self, now: float) -> None:
        """Leave nothing behind that needs a daemon."""
        if self._started:
            self._send(Stopping(now))
            self._finish(now)

    def _finish(self, now: float) -> None:
        """What led to an action is written down before it is done."""
        self._recorder.flush()
        self._actions.finish_interrupted(now)
        self._recorder.flush()

    def close(self) -> None:
        self._failures.close()
        self._background.close()
        self._watching.close()

    def _forget_all_but(self, listed: Mapping[JobId, Job], now: float) -> None:
        """What the scheduler lists no more is history; should it come back, it is seen anew.

        So is a job whose number is another job's now.
        """
        self._activities.forget(set(listed))
        over = [
            job_id
            for job_id, known in self._engine.known.items()
            if job_id not in listed or not known.job.is_same_job(listed[job_id])
        ]
        for job_id in over:
            self._forget(job_id, now)
            self._watching.forget(job_id)
            self._site_model.forget(job_id)
            self._actions.forget(job_id)
            self._retry_at.pop(job_id, None)

    def _forget(self, job_id: JobId, now: float) -> None:
        self._provisional.pop(job_id, None)
        self._to_advise.pop(job_id, None)
        self._to_diagnose.pop(job_id, None)
        self._failures.forget(job_id)
        self._completion.forget(job_id)
        self._send(JobForgotten(now, job_id))
        self._recorder.forget(job_id)
        self._runs.forget(job_id)

    def _see(self, job: Job, now: float) -> None:
        known = self._engine.known.get(job.id)
        if known is not None and known.is_quiet(job, now):
            return
        with self._isolated(job, now):
            self._watching.see(job)
            self._send(JobSeen(now, job, self._past(job)))

    def _advise_pending(self, job: Job, now: float) -> None:
        with self._isolated(job, now), self._reader.spending():
            for event in self._advise(job, now):
                self._send(event)
            self._site_model.submitted(job)

    @contextmanager
    def _isolated(self, job: Job, now: float) -> Iterator[None]:
        """An error about one job leaves the others alone; the job is seen anew a while later."""
        try:
            yield
        except (errors.SchedulerUnreachable, errors.StoreUnavailable):
            self._forget(job.id, now)
            raise
        except Exception:  # noqa: BLE001 - as the docstring says
            _log.exception("job %s is left alone for a while", job.id, extra={"job": job.id})
            self._forget(job.id, now)
            self._retry_at[job.id] = now + _RETRY_AFTER_S

    def _past(self, job: Job) -> Past:
        return Past() if job.id in self._engine.known else past_of(job, self._store)

    def _send_about(self, job: Job, now: float, made: Callable[[], Sequence[Event]]) -> None:
        """Events that take work to make: an error in it is about this job alone.

        A late answer about a job whose number is another job's now is about nobody.
        """
        known = self._engine.known.get(job.id)
        if known is not None and not known.job.is_same_job(job):
            return
        with self._isolated(job, now):
            for event in made():
                self._send(event)

    def _send(self, event: Event) -> None:
        events = deque([event])
        while events:
            sent = events.popleft()
            instructions = self._engine.handle(sent)
            self._recorder.note(sent, instructions)
            for instruction in instructions:
                events.extend(self._carry_out(instruction, sent.at))

    def _carry_out(self, instruction: Instruction, now: float) -> Sequence[Event]:
        match instruction:
            case Advise():
                return self._advise_as_wanted(instruction, now)
            case Track(job=job):
                self._site_model.started(job)
                self._watching.begin(job)
            case Measure(job=job):
                self._suspects.append(job)
            case Diagnose(job=job):
                self._to_diagnose[job.id] = instruction
            case Reconsider(job=job, due=due):
                self._failures.reconsider(job, due)
            case Remember(job=job):
                self._remember(job)
            case Act(action=action) if action.provisional:
                self._provisional[action.job_id] = action
            case Act(action=action):
                self._act(action, now)
        return []

    def _act(self, action: Action, now: float) -> None:
        replaced = self._provisional.get(action.job_id)
        if replaced is not None and action.kind == replaced.kind:
            self._actions.note(self._provisional.pop(action.job_id), now)
        if not self._actions.waits_for_others(action):
            self._recorder.flush()
        self._actions.carry_out(action, now)

    def _advise_as_wanted(self, wanted: Advise, now: float) -> Sequence[Event]:
        job = wanted.job
        if wanted.again:
            return self._advise_again(job, now)
        if wanted.afresh:
            return self._advise_afresh(job, now)
        if job.state is JobState.PENDING or (not job.state.ended and self._reader.is_spent):
            self._to_advise[job.id] = None  # all that wait are seen before one is read
            return []
        with self._reader.spending():
            advised = self._advise(job, now)
            self._reader.write_down()
        self._site_model.submitted(job)
        return advised

    def _advise(self, job: Job, now: float) -> Sequence[Event]:
        """Fail open: a job that cannot be read is scheduled without a prediction."""
        kept = self._reader.kept(job)
        if kept is None and job.state.ended:
            return []
        advice = self._reader.read(job) if kept is None else kept.advice
        if advice is not None and not job.state.ended:
            self._completion.consider(
                job,
                lambda: self._reader.target(job),
                lambda better, at: self._send(JobAdvised(at, job.id, better, cause="refined")),
            )
        return [JobAdvised(now, job.id, advice)]

    def _advise_afresh(self, job: Job, now: float) -> Sequence[Event]:
        """A held job, by its files as they are now."""
        advice = self._reader.read(job)
        self._reader.write_down()
        return [] if advice is None else [JobAdvised(now, job.id, advice, cause="checked")]

    def _advise_again(self, job: Job, now: float) -> Sequence[Event]:
        kept = self._site_model.predict_again(job)
        return [] if kept is None else [JobAdvised(now, job.id, kept.advice, cause="started")]

    def _read_at_last(self, job: Job) -> None:
        """Whether its code resumes decides about a retry: it is read now if it was not before."""
        if self._reader.kept(job) is None:
            self._reader.read(job)
            self._reader.write_down()

    def _remember(self, job: Job) -> None:
        ended = self._watching.end(job)
        if ended is None and self._store.run(job.id, job.restarts) is not None:
            return  # a daemon before this one tracked it
        measured = measured_gpus(self._scheduler, job)
        if job.state is JobState.TIMEOUT and self._engine.may_act_on(job):
            self._read_at_last(job)
        self._store.keep_run(run_that_ended(job, self._store.advice(job.id), ended, measured))
        self._runs.ended(job)
        self._site_model.ended(job)

"""The live shell around the mind: sees the scheduler, tells the mind, does what it wants.

Everything it does can be repeated after a crash: advice, diagnoses and actions that are in the
store already are taken from there.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedmate.advisor import Advisor, Target
from schedmate.core import (
    Act,
    Advise,
    Attempt,
    Diagnose,
    Event,
    Instruction,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    Mind,
    ProgressSeen,
    Remember,
    Track,
    Written,
)
from schedmate.handler import Case, Handler
from schedmate.model import Asker, Diagnosis, Job, JobId, JobState, SchedulerUnreachable
from schedmate.service.attempts import attempts_before, reached_in
from schedmate.service.foresight import Foresight
from schedmate.service.hindsight import measured_gpus, run_that_ended
from schedmate.service.learning import Learning
from schedmate.service.refining import Refining
from schedmate.service.suspects import NodeKnowledge
from schedmate.service.watching import Watching
from schedmate.store import KeptAdvice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedmate.schedulers.base import Scheduler
    from schedmate.service.actions import Actions
    from schedmate.store import Store

_ALONE_S = 60.0
_HANG = "hang"
_log = logging.getLogger("schedmate.mate")


class Mate:
    def __init__(
        self,
        *,
        mind: Mind,
        scheduler: Scheduler,
        store: Store,
        advisor: Advisor,
        handler: Handler,
        actions: Actions,
        asker: Asker | None = None,
        open_store: Callable[[], Store] | None = None,
    ) -> None:
        self._mind = mind
        self._scheduler = scheduler
        self._store = store
        self._advisor = advisor
        self._handler = handler
        self._actions = actions
        self._nodes = NodeKnowledge(scheduler, store)
        self._refining = Refining()
        self._foresight = Foresight(store, self._refining, open_store)
        self._watching = Watching(store, Learning(store, self._refining, asker))
        self._troubled: dict[JobId, float] = {}
        self._unread: deque[Job] = deque()

    def cycle(self, now: float) -> None:
        """Look once at everything and do what follows from it."""
        jobs = self._scheduler.jobs()
        self._forget_all_but({job.id for job in jobs})
        self._unread.clear()
        for job in jobs:
            if now >= self._troubled.get(job.id, 0.0):
                self._see(job, now)
        while self._unread:
            self._read(self._unread.popleft(), now)
        for job_id, progress in self._watching.look(now):
            self._tell(ProgressSeen(now, job_id, progress))
        self._foresight.consider(now)
        self._refining.hear(now)
        self._actions.finish_interrupted(now)

    def close(self) -> None:
        self._refining.close()
        self._watching.close()

    def _forget_all_but(self, listed: set[JobId]) -> None:
        """What the scheduler lists no more is history; should it come back, it is met afresh."""
        for job_id in set(self._mind.known) - listed:
            self._mind.forget(job_id)
            self._watching.forget(job_id)
            self._troubled.pop(job_id, None)

    def _see(self, job: Job, now: float) -> None:
        with self._on_its_own(job, now):
            self._tell(JobSeen(now, job, self._past(job), self._written(job)))

    def _read(self, job: Job, now: float) -> None:
        with self._on_its_own(job, now):
            for event in self._advise(job, now):
                self._tell(event)
            self._foresight.submitted(job)

    @contextmanager
    def _on_its_own(self, job: Job, now: float) -> Iterator[None]:
        """Trouble with one job is not trouble for the others; it is met afresh a while later."""
        try:
            yield
        except SchedulerUnreachable:
            self._mind.forget(job.id)
            raise
        except Exception:  # noqa: BLE001 - as the docstring says
            _log.exception("job %s is left alone for a while", job.id)
            self._mind.forget(job.id)
            self._troubled[job.id] = now + _ALONE_S

    def _past(self, job: Job) -> dict[int, Attempt]:
        if job.restarts == 0 or job.id in self._mind.known:
            return {}
        return attempts_before(job, self._store)

    def _written(self, job: Job) -> Written:
        if job.state is not JobState.PENDING or job.id in self._mind.known:
            return Written()
        return Written.of(self._store.actions(job_id=job.id), job.restarts)

    def _tell(self, event: Event) -> None:
        events = deque([event])
        while events:
            told = events.popleft()
            for instruction in self._mind.handle(told):
                events.extend(self._carry_out(instruction, told.at))

    def _carry_out(self, instruction: Instruction, now: float) -> Sequence[Event]:
        match instruction:
            case Advise(job=job) if job.state is JobState.PENDING:
                self._unread.append(job)  # all that wait have a place before one is read
            case Advise(job=job):
                advised = self._advise(job, now)
                self._foresight.submitted(job)
                return advised
            case Track(job=job):
                self._foresight.started(job)
                self._watching.begin(job)
            case Diagnose(job=job, hung=hung):
                return [self._found(job, self._diagnose(job, now, hung=hung), now)]
            case Remember(job=job):
                self._remember(job)
            case Act(action=action):
                self._actions.carry_out(action, now)
        return []

    def _advise(self, job: Job, now: float) -> Sequence[Event]:
        """Fail open: a job that cannot be read is scheduled as if nobody had looked."""
        kept = self._store.advice(job.id)
        if kept is None and not job.state.ended:
            try:
                target = Target.from_job(job, self._scheduler.script(job.id))
                advised = self._advisor.advise(target)
            except Exception:  # noqa: BLE001 - whatever a script makes the advisor stumble over
                _log.warning("no advice on job %s", job.id, exc_info=True)
                return []
            kept = KeptAdvice(advised.advice, advised.fingerprint)
            self._store.keep_advice(job.id, kept)
        return [] if kept is None else [JobAdvised(now, job.id, kept.advice)]

    def _diagnose(self, job: Job, now: float, *, hung: bool) -> Diagnosis:
        known = self._store.diagnoses(job.id).get(job.restarts)
        # a run that seemed to hang and then ended by itself is another case
        settled = known if known is not None and (hung or known.reason != _HANG) else None
        if settled is not None and not self._handler.leaves_open(settled):
            return settled
        case = self._case(job, now, hung=hung)
        diagnosis = settled or self._handler.diagnose(case)
        if settled is None:
            self._store.keep_diagnosis(job.id, job.restarts, diagnosis)
        if self._handler.leaves_open(diagnosis):
            # again after a restart: who knows if it was answered
            self._refining.ask(
                f"the failure of job {job.id}",
                lambda: self._handler.ask_model(case, diagnosis),
                lambda refined, at: self._refined(job, diagnosis, refined, at),
            )
        return diagnosis

    def _case(self, job: Job, now: float, *, hung: bool) -> Case:
        kept = self._store.advice(job.id)
        return Case.of_job(
            job,
            workload=None if kept is None else kept.advice.workload,
            hung=hung,
            node_states=self._nodes.states_of(job, now),
            suspects=tuple(one.node for one in self._nodes.suspects_among(job.nodes, now)),
        )

    def _found(self, job: Job, diagnosis: Diagnosis, now: float) -> JobDiagnosed:
        """With all that the decision depends on; of nodes only where it may avoid some."""
        again = diagnosis.decision.retry != "no"
        return JobDiagnosed(
            now,
            job.id,
            job.restarts,
            diagnosis,
            reached=reached_in(job, self._store),
            choice=self._nodes.choice_for(job, now) if again and job.nodes else None,
        )

    def _refined(self, job: Job, before: Diagnosis, refined: Diagnosis, now: float) -> None:
        if refined.reason != before.reason:
            self._store.keep_diagnosis(job.id, job.restarts, refined)
            self._tell(self._found(job, refined, now))

    def _remember(self, job: Job) -> None:
        ended = self._watching.end(job)
        if ended is None and self._store.run(job.id, job.restarts) is not None:
            return  # by somebody who had followed it
        measured = measured_gpus(self._scheduler, job)
        self._store.keep_run(run_that_ended(job, self._store.advice(job.id), ended, measured))
        self._foresight.ended(job)

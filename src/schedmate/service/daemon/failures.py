"""Failed and hung jobs: each is diagnosed, and what the decision depends on is collected."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from schedmate.core import JobDiagnosed
from schedmate.handler import Case
from schedmate.model import Decision
from schedmate.service.daemon.diagnosing import Diagnosing, is_unread
from schedmate.service.records.attempts import reached_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedmate.core import DecisionEngine, Event
    from schedmate.core.events import DiagnosedBy
    from schedmate.handler import Handler
    from schedmate.model import Diagnosis, Job, JobId
    from schedmate.service.daemon.background import BackgroundQueue
    from schedmate.service.daemon.rivals import Rivals
    from schedmate.service.records.nodes import NodeKnowledge
    from schedmate.store import Store

    Send = Callable[[Job, float, Callable[[], Sequence[Event]]], None]
    """Make events about a job, now, and send them."""

_HANG = "hang"
_READ_AGAIN_S, _READ_FOR_S = 300.0, 86400.0
"""How often, and how long after its end, a log that cannot be read is tried again."""


class Failures:
    def __init__(
        self,
        *,
        engine: DecisionEngine,
        store: Store,
        handler: Handler,
        nodes: NodeKnowledge,
        background: BackgroundQueue,
        send: Send,
        rivals: Rivals,
    ) -> None:
        self._engine = engine
        self._store = store
        self._handler = handler
        self._nodes = nodes
        self._background = background
        self._send = send
        self._rivals = rivals
        self._diagnosing = Diagnosing(handler)
        self._unread: dict[JobId, tuple[Job, float]] = {}
        """Failed jobs with logs that could not be read, and when to try again."""
        self._unsettled: dict[JobId, tuple[Job, float]] = {}
        """Failed jobs whose owner may submit them again, and when that is decided."""

    def diagnose(self, job: Job, now: float, *, hung: bool) -> Sequence[JobDiagnosed]:
        """At once, or nothing for now where it takes longer."""
        known = self._store.diagnoses(job.id).get(job.restarts)
        # a run that seemed to hang and then ended by itself is another case
        is_settled = known is not None and (hung or known.reason != _HANG) and not is_unread(known)
        if known is not None and is_settled and not self._handler.wants_model(known):
            return [self._found(job, known, now)]
        case = self._case(job, now, hung=hung)
        if known is not None and is_settled:
            return [self._answered(job, case, known, now, keep=False)]

        def later(diagnosis: Diagnosis, at: float) -> None:
            self._send(job, at, lambda: [self._answered(job, case, diagnosis, at)])

        found = self._diagnosing.diagnose(case, f"the failure of job {job.id}", later)
        return [] if found is None else [self._answered(job, case, found, now)]

    def read_again(self, now: float) -> None:
        """Logs that could not be read."""
        for job, at in list(self._unread.values()):
            if now >= at:
                del self._unread[job.id]
                self._send(job, now, partial(self._diagnosed_again, job, now))

    def reconsider(self, job: Job, due: float) -> None:
        """Decide at that time, by what is seen of all jobs then."""
        self._unsettled[job.id] = job, due

    def settle(self, now: float) -> None:
        """Those whose time has come. Nothing is kept of them: another daemon begins anew."""
        for job, due in list(self._unsettled.values()):
            if now >= due:
                del self._unsettled[job.id]
                self._send(job, now, partial(self._diagnosed_at_last, job, now))

    def _diagnosed_at_last(self, job: Job, now: float) -> Sequence[JobDiagnosed]:
        known = self._engine.known.get(job.id)
        if known is None or (known.job.state, known.job.restarts) != (job.state, job.restarts):
            return []
        return self.diagnose(job, now, hung=False)

    def _diagnosed_again(self, job: Job, now: float) -> Sequence[JobDiagnosed]:
        known, before = self._engine.known.get(job.id), self._store.diagnoses(job.id)
        if known is None or known.job.restarts != job.restarts:
            return []
        return [
            event
            for event in self.diagnose(job, now, hung=False)
            if not event.diagnosis.unread_logs
            or event.diagnosis.reason != before[job.restarts].reason
        ]

    def deliver(self, now: float) -> None:
        self._diagnosing.deliver(now)

    def finish(self, now: float) -> None:
        """Wait for those whose logs take long."""
        self._diagnosing.finish(now)

    def forget(self, job_id: JobId) -> None:
        self._unread.pop(job_id, None)
        self._unsettled.pop(job_id, None)

    def close(self) -> None:
        self._diagnosing.close()

    def _answered(
        self, job: Job, case: Case, diagnosis: Diagnosis, now: float, *, keep: bool = True
    ) -> JobDiagnosed:
        if keep:
            self._store.keep_diagnosis(job.id, job.restarts, diagnosis)
        if is_unread(diagnosis) and now - (job.end_time or now) < _READ_FOR_S:
            self._unread[job.id] = job, now + _READ_AGAIN_S
        if not self._handler.wants_model(diagnosis):
            return self._found(job, diagnosis, now)
        # also after a restart: the answer may have been lost
        is_open, shown = self._handler.leaves_open(diagnosis), diagnosis
        if not is_open and diagnosis.decision.retry != "no":
            why = f"{diagnosis.reason}: a model reads it before it is tried again"
            shown = replace(diagnosis, decision=Decision(retry="no", why=why))
        ask = self._handler.ask_model if is_open else self._handler.refine
        self._background.submit(
            f"the failure of job {job.id}",
            lambda: ask(case, diagnosis),
            lambda refined, at: self._refined(job, shown, refined, at),
        )
        return self._found(job, shown, now)

    def _case(self, job: Job, now: float, *, hung: bool) -> Case:
        kept = self._store.advice(job.id)
        return Case.of_job(
            job,
            workload=None if kept is None else kept.advice.workload,
            hung=hung,
            complete=reached_in(job, self._store).complete,
            node_states=self._nodes.states_of(job, now),
            suspects=tuple(one.node for one in self._nodes.suspects_among(job.nodes, now)),
        )

    def _found(
        self, job: Job, diagnosis: Diagnosis, now: float, by: DiagnosedBy = "handler"
    ) -> JobDiagnosed:
        """With all that the decision depends on; of nodes only where it may avoid some."""
        again = diagnosis.decision.retry != "no" and self._engine.may_act_on(job)
        return JobDiagnosed(
            now,
            job.id,
            job.restarts,
            diagnosis,
            reached=reached_in(job, self._store),
            choice=self._nodes.choice_for(job, now) if again and job.nodes else None,
            by=by,
            submits_jobs=again and self._rivals.submits_jobs(job),
            successors=self._rivals.successors(job) if again else (),
            rivals=self._rivals.rivals(job, now) if again else (),
            children=self._rivals.children(job, now) if again else (),
            held_for_s=self._rivals.held_for_s() if again else None,
        )

    def _refined(self, job: Job, before: Diagnosis, refined: Diagnosis, now: float) -> None:
        """What was decided before holds, unless the reason or the decision is another now."""
        if refined != before:
            self._store.keep_diagnosis(job.id, job.restarts, refined)
        if (refined.reason, refined.decision) != (before.reason, before.decision):
            self._send(job, now, lambda: [self._found(job, refined, now, by="model")])

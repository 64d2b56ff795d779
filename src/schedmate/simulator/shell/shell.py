"""The daemon and its adapter in simulated time.

Jobs of the simulated scheduler become the snapshots that a real adapter gives. The decision engine
gets the events that the daemon sends, and every nice number, limit and requeue is an instruction
of it. Events from which nothing can follow are left out: the progress of a run that is neither
silent nor under a lowered limit.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from schedmate.core import (
    Act,
    ActivitySeen,
    Advise,
    CheckpointSeen,
    DecisionEngine,
    Diagnose,
    Event,
    Instruction,
    JobAdvised,
    JobForgotten,
    JobSeen,
    Measure,
    ProgressSeen,
    Remember,
    Track,
)
from schedmate.core.hangs import HangLimits, looks_apart_s
from schedmate.model import Action, Advice, Job, JobState, Workload
from schedmate.simulator.engine.steering import Steered
from schedmate.simulator.estimators.predictor import Predictor
from schedmate.simulator.shell.levering import CHECKPOINT, SIGN, LeverSide
from schedmate.simulator.shell.snapshots import Snapshots
from schedmate.simulator.shell.tracking import IDLE, LOOK_S, Silences, Tracker
from schedmate.simulator.traces.columns import TraceColumns

if TYPE_CHECKING:
    from schedmate.simulator.shell.diagnosing import Diagnoses

OnEvent = Callable[[Event, Sequence[Instruction]], None]

_TICK_S = looks_apart_s(HangLimits().after_s)
"""Silent jobs are measured at these moments, as `core/hangs.py` has it."""
_OF_THE_LIMIT = 0.25
"""Of what is left of a lowered limit until a run under it is looked at again: much less than the
share that is left when it is given back at the latest."""
REQUEUE_S = 120.0
"""Slurm lets a requeued job start so much later at the earliest."""
_AGAIN_S = 300.0
"""Slurm's PriorityCalcPeriod: a job whose priority left no room may have some then."""
_LOOK, _ADVICE, _TICK, _LIMIT, _MEASURE, _DUE, _LEVER = range(7)
_PURPOSES = 16
_NO_WORKLOAD = Workload()


class SimulatedDaemon:
    """Fulfils `Beside`. A part of SchedMate that is not given does not act: without estimates no
    job is read, without a tracker no log, without diagnoses no failure."""

    def __init__(
        self,
        engine: DecisionEngine,
        columns: TraceColumns,
        *,
        predictor: Predictor | None = None,
        tracker: Tracker | None = None,
        silences: Silences | None = None,
        diagnoses: Diagnoses | None = None,
        look_s: float = LOOK_S,
        requeue_s: float = REQUEUE_S,
        comments: Mapping[int, str] = MappingProxyType({}),
        levers: LeverSide | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        """`comments` are what owners wrote beside their jobs, by their numbers."""
        self._engine = engine
        self._columns = columns
        self._predictor = predictor
        self._tracker = tracker
        self._silences = silences
        self._diagnoses = diagnoses
        self._look_s = look_s
        self._requeue_s = requeue_s
        self._comments = comments
        self._levers = levers
        self._on_event = on_event
        self.actions: Counter[str] = Counter()
        """How many actions of each kind were carried out."""

    def begin(self, scheduler: Steered) -> None:
        self._scheduler = scheduler
        self._snapshots = Snapshots(self._columns, scheduler, self._comments)
        self._changed: dict[int, None] = {}
        self._waiting: set[int] = set()
        self._unplaced: set[int] = set()
        self._look_at = math.inf
        self._reader_free = -math.inf
        self._suspects: list[Job] = []
        self._done: set[str] = set()
        if self._levers is not None:
            self._levers.begin(
                scheduler,
                self._snapshots,
                lambda at, job, purpose: self._call_in_run(at, job, _LEVER + purpose),
            )

    def submitted(self, job: int) -> None:
        before = self._snapshots.submitted(job)
        if before is not None:
            self._tell(JobForgotten(self._scheduler.now, before))
        self._waiting.add(job)
        self._note(job)

    def changed(self, job: int) -> None:
        """By its owner, while it waits."""
        self._note(job)

    def started(self, job: int) -> None:
        self._snapshots.started(job)
        self._waiting.discard(job)
        if self._levers is not None:
            self._levers.started(job)
        self._note(job)

    def preempted(self, job: int) -> None:
        self._snapshots.preempted(job)
        self._note(job)

    def ended(self, job: int, *, killed: bool) -> None:
        if self._levers is not None:
            self._levers.ended(job, self._scheduler.now - self._snapshots.began(job))
        self._snapshots.ended(job, JobState.TIMEOUT if killed else None)
        self._note(job)

    def failed(self, job: int, nodes: Sequence[int]) -> None:
        self._snapshots.failed(job, nodes)
        self._note(job)

    def called(self, job: int, purpose: int) -> None:
        run, purpose = divmod(purpose, _PURPOSES)
        match purpose:
            case _ if purpose == _LOOK:
                self._look()
            case _ if purpose == _MEASURE:
                self._measure()
            case _ if run != self._snapshots.version(job, submissions=purpose in (_ADVICE, _DUE)):
                return
            case _ if purpose == _ADVICE:
                self._advise(job)
            case _ if purpose == _TICK:
                self._watch_silence(job)
            case _ if purpose == _LIMIT:
                self._watch_limit(job)
            case _ if purpose == _DUE and self._snapshots.state(job) is JobState.PENDING:
                self._note(job)
            case _ if purpose >= _LEVER and self._levers is not None:
                self._pull(self._levers, job, purpose - _LEVER)

    def _note(self, job: int) -> None:
        self._changed[job] = None
        self._look_by(self._scheduler.now)

    def _look_by(self, time: float) -> None:
        """At the first look of the daemon after that time."""
        at = (math.floor(time / self._look_s) + 1) * self._look_s
        if at < self._look_at:
            self._look_at = at
            self._scheduler.call_at(at, -1, _LOOK)

    def _look(self) -> None:
        now = self._scheduler.now
        if now < self._look_at:
            return
        self._look_at = math.inf
        changed, self._changed = self._changed, {}
        for job in [*self._unplaced]:
            if self._snapshots.state(job) is not JobState.PENDING:
                self._unplaced.discard(job)
            else:
                changed[job] = None
        for job in changed:
            self._see(job, now)
        if self._unplaced:
            self._look_by(now + _AGAIN_S)

    def _see(self, job: int, now: float) -> None:
        seen = self._snapshots.of(job)
        self._tell(JobSeen(now, seen))
        known = self._engine.known[seen.id]
        if seen.state is JobState.PENDING and not known.nice.ordered:
            self._unplaced.add(job)
        else:
            self._unplaced.discard(job)
        if self._snapshots.is_over(job):
            self._tell(JobForgotten(now, seen.id))
        elif self._levers is not None:
            for event in self._levers.seen(job, now):
                self._tell(event)

    def _tell(self, event: Event) -> None:
        events = deque([event])
        while events:
            sent = events.popleft()
            instructions = self._engine.handle(sent)
            if self._on_event is not None:
                self._on_event(sent, instructions)
            for instruction in instructions:
                events.extend(self._carry_out(instruction, sent.at))

    def _carry_out(self, instruction: Instruction, now: float) -> Sequence[Event]:
        match instruction:
            case Act(action=action):
                self._act(action)
            case Advise(job=seen, again=False):
                self._read(seen, now)
            case Track(job=seen):
                self._learn(seen)
                self._track(self._snapshots.number(seen.id))
            case Remember(job=seen):
                self._learn(seen)
            case Measure(job=seen):
                if not self._suspects:
                    self._scheduler.call_at(now, len(self._columns), _MEASURE)
                self._suspects.append(seen)
            case Diagnose(job=seen, hung=hung):
                job = self._snapshots.number(seen.id)
                # how a run ended that ended in the trace is final: no retry of it is in there
                if self._diagnoses is not None and not self._snapshots.is_over(job):
                    return [self._diagnoses.of(job, seen, now, self._scheduler, hung=hung)]
        return []

    def _act(self, action: Action) -> None:
        if action.key in self._done:
            return
        self._done.add(action.key)
        self.actions[action.kind] += 1
        job = self._snapshots.number(action.job_id)
        match action.kind:
            case "set_nice":
                if self._snapshots.state(job) is JobState.PENDING:
                    self._scheduler.set_nice(job, int(action.value or 0))
                    self._look_when_due(job)
            case "set_time_limit":
                self._set_limit(job, action)
            case "requeue":
                if self._snapshots.requeued(job, action.attempt):
                    self._scheduler.requeue(
                        job,
                        exclude_nodes=[int(node) for node in action.exclude_nodes],
                        delay_s=max(action.delay_s, self._requeue_s),
                    )
                    self._note(job)
            case _ if self._levers is not None:
                self._levers.carry_out(action, self._requeue_s)
                self._note(job)
                self._look_when_due(job)

    def _pull(self, levers: LeverSide, job: int, purpose: int) -> None:
        now = self._scheduler.now
        if purpose == CHECKPOINT:
            events = levers.checkpoint(job, now, waited_for=bool(self._waiting))
        else:
            events = levers.sign(job, now) if purpose == SIGN else levers.pace(job, now)
        for event in events:
            if isinstance(event, CheckpointSeen):
                self._tell_progress(job, spoke_at=None)
            self._tell(event)

    def _look_when_due(self, job: int) -> None:
        """The bound on being overtaken is a decision that no event leads to."""
        due = self._engine.due(self._snapshots.id(job))
        if due is not None and due > self._scheduler.now:
            submission = self._snapshots.version(job, submissions=True)
            self._scheduler.call_at(due, job, _DUE + _PURPOSES * submission)

    def _set_limit(self, job: int, action: Action) -> None:
        self._scheduler.set_time_limit(job, action.value)
        self._snapshots.limited(job, action.value)
        if self._snapshots.state(job) is JobState.RUNNING and self._snapshots.is_lowered(job):
            self._look_at_limit_again(job)

    def _read(self, seen: Job, now: float) -> None:
        """One job after the other, as the daemon does."""
        if self._predictor is None or seen.state.ended:
            return
        job = self._snapshots.number(seen.id)
        cost = self._predictor.cost_s(job)
        self._reader_free = max(self._reader_free, now) + cost
        submission = self._snapshots.version(job, submissions=True)
        self._scheduler.call_at(self._reader_free, job, _ADVICE + _PURPOSES * submission)

    def _advise(self, job: int) -> None:
        predictor, now = self._predictor, self._scheduler.now
        if predictor is None or self._snapshots.is_over(job):
            return
        job_id, prediction = self._snapshots.id(job), predictor.submitted(job)
        if self._levers is not None:
            for event in self._levers.advised(job, now):
                self._tell(event)
        if self._snapshots.state(job) is JobState.RUNNING:
            predictor.started(job, self._snapshots.began(job))
        self._tell(JobAdvised(now, job_id, Advice(workload=_NO_WORKLOAD, prediction=prediction)))

    def _learn(self, seen: Job) -> None:
        """From a job that runs, or has run; a node that failed says nothing about it."""
        failed = seen.state is JobState.NODE_FAIL
        if self._predictor is None or seen.start_time is None or failed:
            return
        job = self._snapshots.number(seen.id)
        if seen.end_time is None:
            self._predictor.started(job, seen.start_time)
        else:
            self._predictor.ended(job, seen.start_time, seen.end_time, seen.state)

    def _track(self, job: int) -> None:
        if self._snapshots.state(job) is not JobState.RUNNING:
            return
        now = self._scheduler.now
        silent, _ = self._silence(job)
        if self._tracker is not None and now <= silent < math.inf:
            self._call_in_run(_next_tick(silent), job, _TICK)
        if self._snapshots.is_lowered(job):
            self._look_at_limit_again(job)

    def _silence(self, job: int) -> tuple[float, float]:
        """When this run falls silent, and until when it is."""
        silences = self._silences
        if silences is None or not math.isfinite(silences.begin_s[job]):
            return math.inf, math.inf
        since = self._scheduler.reaches_at(job, float(silences.begin_s[job]))
        return since, since + float(silences.length_s[job])

    def _watch_silence(self, job: int) -> None:
        now = self._scheduler.now
        since, until = self._silence(job)
        if self._snapshots.state(job) is not JobState.RUNNING:
            return
        if now < since:  # it runs more slowly than it did
            self._call_in_run(_next_tick(since), job, _TICK)
            return
        self._tell_progress(job, spoke_at=since if now < until else None)
        if now < until:
            self._call_in_run(now + _TICK_S, job, _TICK)

    def _watch_limit(self, job: int) -> None:
        if self._snapshots.state(job) is not JobState.RUNNING:
            return
        now = self._scheduler.now
        self._tell(JobSeen(now, self._snapshots.of(job)))
        if self._snapshots.is_lowered(job):
            self._tell_progress(job, spoke_at=None)
        if self._snapshots.is_lowered(job):
            self._look_at_limit_again(job)

    def _look_at_limit_again(self, job: int) -> None:
        now = self._scheduler.now
        left = self._snapshots.began(job) + self._scheduler.jobs.planned[job] - now
        self._call_in_run(now + max(self._look_s, _OF_THE_LIMIT * left), job, _LIMIT)

    def _tell_progress(self, job: int, *, spoke_at: float | None) -> None:
        if self._tracker is None:
            return
        now = self._scheduler.now
        progress = self._tracker.progress(
            job,
            self._scheduler.done_s(job),
            now=now,
            began=self._snapshots.began(job),
            spoke_at=spoke_at,
        )
        if self._levers is not None:
            progress = replace(progress, warnings=self._levers.warnings(job))
        self._tell(ProgressSeen(now, self._snapshots.id(job), progress))

    def _measure(self) -> None:
        suspects, self._suspects = self._suspects, []
        for seen in suspects:
            self._tell(ActivitySeen(self._scheduler.now, seen.id, seen.restarts, IDLE))

    def _call_in_run(self, time: float, job: int, purpose: int) -> None:
        """Unless that run is over by then."""
        run = self._snapshots.version(job, submissions=False)
        self._scheduler.call_at(time, job, purpose + _PURPOSES * run)


def _next_tick(time: float) -> float:
    return (math.floor(time / _TICK_S) + 1) * _TICK_S

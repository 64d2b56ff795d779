"""No history of failures, however told, makes the mind exceed its budget."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from schedmate.core import (
    Act,
    ActivitySeen,
    Attempt,
    DecisionEngine,
    DecisionLimits,
    Diagnose,
    Hung,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    Measure,
    Past,
    ProgressSeen,
    Reached,
)
from schedmate.model import REASONS, Action, Activity, Blame, JobState
from schedmate.policies import ordering
from schedmate.testing.builders import a_diagnosis, a_job, a_progress, a_silence, an_advice

worth_a_retry = st.sampled_from(sorted(name for name in REASONS if REASONS[name].retry != "no"))
reasons = worth_a_retry | st.sampled_from(sorted(REASONS))
nodes = st.sampled_from([(), ("n1",), ("n2",), ("n1", "n2")])
reached = st.builds(
    Reached,
    unit=st.just("step"),
    began=st.integers(0, 9),
    done=st.integers(0, 9),
    saved=st.none() | st.integers(0, 9),
    resumes=st.sampled_from([None, True, False]),
)
failures = st.sampled_from([state for state in JobState if state.failed])


def hanging():
    return a_progress(phase="stalled", silence=a_silence(silent_s=7200.0))


class OneJobWithBadLuck(RuleBasedStateMachine):
    """A scheduler with one job, driven like the live loop drives it: actions once by key."""

    @initialize(budget=st.integers(0, 2), more=st.integers(0, 3), counts=st.booleans())
    def submit(self, budget, more, counts):
        self.budget, self.in_all, self.counts = budget, budget + more, counts
        self.engine = self.new_engine()
        self.state, self.restarts = JobState.PENDING, 0
        self.stopped = 0
        self.hung: list[int] = []
        self.done: dict[str, Action] = {}
        self.wants_diagnosis: list[int] = []
        self.look()

    def new_engine(self):
        limits = DecisionLimits(retries=self.budget, retries_in_all=self.in_all)
        return DecisionEngine(ordering("sjf"), limits)

    @rule()
    def look(self):
        self.tell(JobSeen(0.0, a_job(state=self.state, restarts=self.restarts)))

    @precondition(lambda self: self.state is JobState.PENDING)
    @rule()
    def start(self):
        self.turn(JobState.RUNNING)

    @precondition(lambda self: self.state is JobState.RUNNING)
    @rule(state=failures | st.just(JobState.COMPLETED))
    def end(self, state):
        self.turn(state)

    @rule()
    def stall(self):
        """It is silent for hours, without any CPU time, and is measured again and again."""
        for minute in range(0, 60, 5):
            self.tell(ProgressSeen(60.0 * minute, "1", hanging()))

    @rule(seconds=st.none() | st.floats(0, 1e6))
    def advise(self, seconds):
        self.tell(JobAdvised(0.0, "1", an_advice(seconds)))

    @precondition(lambda self: self.state is JobState.PENDING)
    @rule(state=failures, reason=worth_a_retry, blamed=nodes, far=reached)
    def run_and_fail(self, state, reason, blamed, far):
        self.turn(JobState.RUNNING)
        self.turn(state)
        self.diagnose(self.restarts, reason, blamed, far)

    @precondition(lambda self: self.wants_diagnosis)
    @rule(reason=reasons, blamed=nodes, far=reached)
    def answer_a_diagnosis(self, reason, blamed, far):
        self.diagnose(self.wants_diagnosis.pop(), reason, blamed, far)

    @rule(attempt=st.integers(0, 3), reason=reasons, blamed=nodes, far=reached)
    def diagnose(self, attempt, reason, blamed, far):
        """At any time, about any run, whether or not somebody asked."""
        diagnosis = a_diagnosis(reason, blame=Blame(nodes=blamed))
        far = far if self.counts else Reached()
        self.tell(JobDiagnosed(0.0, "1", attempt, diagnosis, far))

    @rule()
    def restart_the_daemon(self):
        """All that the store gives back of a run that was queued again while it was running."""
        past = {number: Attempt(diagnosis=a_diagnosis("hang"), hung=Hung()) for number in self.hung}
        self.engine = self.new_engine()
        job = a_job(state=self.state, restarts=self.restarts)
        self.tell(JobSeen(0.0, job, Past(attempts=past)))

    def turn(self, state):
        self.state = state
        self.look()

    def tell(self, event):
        for instruction in self.engine.handle(event):
            match instruction:
                case Measure(job=job):
                    idle = Activity(cpu_s=7.0)
                    self.tell(ActivitySeen(event.at, job.id, job.restarts, idle))
                case Diagnose(job=job):
                    self.wants_diagnosis.append(job.restarts)
                case Act(action=action) if action.key not in self.done:
                    self.done[action.key] = action
                    self.carry_out(action)

    def carry_out(self, action):
        assert action.attempt == self.restarts, "acts on the run at hand"
        assert action.kind != "cancel", "nothing is ever cancelled"
        self.stopped += action.kind == "requeue" and self.state is JobState.RUNNING
        if action.kind == "requeue" and self.state is JobState.RUNNING:
            self.hung.append(action.attempt)
        if action.kind == "requeue":
            assert self.state not in (JobState.COMPLETED, JobState.CANCELLED, JobState.PENDING)
            self.restarts += 1
            self.turn(JobState.PENDING)

    @invariant()
    def the_budget_holds(self):
        requeues = [action for action in self.done.values() if action.kind == "requeue"]
        most = self.in_all if self.counts else self.budget
        assert len(requeues) <= most
        assert self.restarts <= most
        assert self.stopped <= 1, "what runs is queued again once in its life"


TestOneJobWithBadLuck = pytest.mark.slow(OneJobWithBadLuck.TestCase)
TestOneJobWithBadLuck.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)

"""The simulated daemon: real decisions of a real engine, carried out in simulated time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmate.core import Act, DecisionEngine, DecisionLimits, HangLimits, Scope, TimeLimits
from schedmate.model import JobState
from schedmate.model.priority import NICE_RANGE
from schedmate.policies import POLICIES, Candidate, nice_of, ordering
from schedmate.policies.multifactor import Multifactor, Weights
from schedmate.simulator import columns_of
from schedmate.simulator.engine.cluster import GpuPool, Nodes, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.engine.faults import Fault
from schedmate.simulator.engine.steering import AtOnce
from schedmate.simulator.estimators.base import Estimates, oracle
from schedmate.simulator.estimators.predictor import Fixed
from schedmate.simulator.experiments.execute import job_columns
from schedmate.simulator.shell.diagnosing import Diagnoses
from schedmate.simulator.shell.shell import SimulatedDaemon
from schedmate.simulator.shell.tracking import Silences, Tracker
from schedmate.simulator.synthetic import draw_workload
from schedmate.simulator.traces.columns import STATES
from schedmate.testing.builders import a_job, a_trace_job

BESIDE = sorted(name for name, policy in POLICIES.items() if policy.kind == "beside")
HOUR = 3600.0


def trace(*rows, **named):
    """Rows of submission, duration, GPUs."""
    return columns_of(
        [
            a_trace_job(job_id=str(number), submit_time=at, duration=s, gpus=gpus, **named)
            for number, (at, s, gpus) in enumerate(rows)
        ]
    )


class Ran:
    """One run beside a scheduler, and all that the engine decided."""

    def __init__(
        self,
        columns,
        policy,
        *,
        cluster=None,
        estimates=None,
        order="sjf",
        limits=None,
        time_limits=None,
        recovery=None,
        nice_range=None,
        faults=(),
        note=None,
        **parts,
    ):
        self.decided = []
        self.events = []
        self.recovery = recovery or AtOnce(columns.duration.tolist())
        self.shell = SimulatedDaemon(
            DecisionEngine(ordering(order), limits, time_limits),
            columns,
            predictor=Fixed(oracle(columns) if estimates is None else estimates),
            on_event=note or self._note,
            **parts,
        )
        self.outcome = SimulationEngine(
            columns,
            job_columns(columns, oracle(columns)),
            policy,
            cluster or GpuPool(1),
            physics=Plain(columns.gpus.tolist(), scaling=1.0),
            restart_s=0.0,
            faults=faults,
            recovery=self.recovery,
            beside=self.shell,
            nice_range=nice_range,
        ).run()

    def _note(self, event, instructions):
        self.events.append(event)
        self.decided += [one.action for one in instructions if isinstance(one, Act)]

    def of(self, kind):
        return [action for action in self.decided if action.kind == kind]


@pytest.mark.parametrize("name", BESIDE)
def test_a_short_job_overtakes_those_that_wait_before_it(name):
    columns = trace((0, HOUR, 1), (1, 20 * HOUR, 1), (2, 60, 1), time_limit=100 * HOUR)
    plain = SimulationEngine(
        columns,
        job_columns(columns, oracle(columns)),
        POLICIES[name](),
        GpuPool(1),
        physics=Plain([1, 1, 1]),
    ).run()
    assert np.argsort(plain.start).tolist() == [0, 1, 2]

    ran = Ran(columns, POLICIES[name]())

    assert np.argsort(ran.outcome.start).tolist() == [0, 2, 1]


def test_every_nice_number_is_the_engines_and_unknown_jobs_stand_in_the_middle():
    columns = trace((0, HOUR, 1), (1, 5000, 4), (2, 60, 1), (3, 60, 4))
    known = Estimates.exactly(np.array([HOUR, 5000.0, 60.0, math.nan]), "test")
    ran = Ran(columns, POLICIES["fifo"](), cluster=GpuPool(4), estimates=known)

    given_numbers = {a.job_id: a.value for a in ran.of("set_nice") if not a.provisional}
    expected = [Fixed(known).submitted(job) for job in range(4)]
    for job, together in (("1", HOUR), ("2", 0.0)):
        candidate = a_job(
            id=job, request=replace(a_job().request, gpus=int(columns.gpus[int(job)]))
        )
        known = Candidate(candidate, expected[int(job)])
        wanted = nice_of(ordering("sjf"), known, NICE_RANGE, together)
        assert given_numbers[job] == wanted - NICE_RANGE
    middle = [a for a in ran.of("set_nice") if a.job_id == "3"]
    assert [a.value for a in middle] == [-NICE_RANGE // 2]


def test_a_job_is_seen_at_the_next_look_and_ordered_when_it_has_been_read():
    columns = trace((0, HOUR, 1), (7, 60, 1), (8, 60, 1))
    slow = replace(oracle(columns), cost_s=np.full(3, 2.0))
    ran = Ran(columns, POLICIES["fifo"](), estimates=slow)

    times = [(type(e).__name__, e.at) for e in ran.events if getattr(e, "job_id", "") == "1"]
    seen = [e.at for e in ran.events if type(e).__name__ == "JobSeen" and e.job.id == "1"]
    assert seen[0] == 30.0
    assert ("JobAdvised", 34.0) in times, "after that of the job before it"


def test_beside_multifactor_nice_numbers_are_within_the_weight_of_age():
    """The numbers of the Slurm adapter: within the weight of age."""
    rows = [(0, HOUR, 1), *((1 + number, 30 + number * 60, 1) for number in range(20))]
    priorities = []

    class Noting(Multifactor):
        def decide(self):
            super().decide()
            priorities.extend(self.priority(job) for job in self._queue.jobs.tolist())

    columns = trace(*rows, time_limit=100 * HOUR)
    ran = Ran(columns, Noting(weights=Weights(age=200, fair_share=0, size=300)))

    values = [action.value for action in ran.of("set_nice")]
    assert -200 <= min(values) < max(values) <= 0
    assert min(priorities) >= 1


def test_a_job_whose_priority_leaves_no_room_is_ordered_when_ageing_gave_it_some():
    """Where numbers go upwards."""
    columns = trace((0, 4 * 86400, 1), (1, 6000, 1), (2, 600, 1), time_limit=10 * 86400)
    leaves_some = DecisionLimits(scope=Scope(exclude_users=frozenset({"somebody else"})))
    at = {}

    def note(event, instructions):
        at.update({one.action.job_id: event.at for one in instructions if isinstance(one, Act)})

    policy = Multifactor(weights=Weights(age=700, fair_share=0, size=0))
    Ran(columns, policy, limits=leaves_some, note=note)

    assert {"1", "2"} <= set(at)
    assert all(at[job] > HOUR for job in "12")


def hanging(duration=10 * HOUR, silent=6 * HOUR, count=1):
    """Jobs that write a line a minute and then nothing, and the parts that watch them."""
    columns = trace(*((10 + number, duration, 1) for number in range(count)))
    workload = replace(
        draw_workload(columns, seed=0),
        log_every_s=np.full(count, 60.0),
        planned_s=columns.duration,
    )
    silences = Silences(np.full(count, duration - silent), np.full(count, silent))
    return columns, {"tracker": Tracker(workload, seed=0), "silences": silences}


class HangsOnce(AtOnce):
    """Run again it is done where it hung; every hour is kept."""

    def restarts_with(self, job, done_s):
        return 4 * HOUR, min(done_s, 4 * HOUR) // HOUR * HOUR


def test_a_hung_job_is_queued_again_once_the_engine_has_measured_it():
    columns, parts = hanging()
    recovery = HangsOnce([])
    ran = Ran(
        columns,
        POLICIES["fifo"](),
        recovery=recovery,
        diagnoses=Diagnoses(recovery),
        limits=DecisionLimits(hang=HangLimits(requeue=True)),
        **parts,
    )

    [requeue] = ran.of("requeue")
    assert requeue.reason.failure == "hang"
    kinds = [type(event).__name__ for event in ran.events]
    assert kinds.count("ActivitySeen") >= 3
    assert 4.5 * HOUR < ran.outcome.end[0] < 5.2 * HOUR, "half an hour of silence, not six hours"
    assert ran.outcome.requeues.tolist() == [1]
    assert not ran.outcome.preemptions.any(), "fifo never stops a job"


def test_a_longer_patience_of_the_engine_is_a_longer_silence():
    columns, parts = hanging()
    recovery = HangsOnce([])
    ran = Ran(
        columns,
        POLICIES["fifo"](),
        recovery=recovery,
        diagnoses=Diagnoses(recovery),
        limits=DecisionLimits(hang=HangLimits(requeue=True, after_s=3 * HOUR)),
        **parts,
    )

    assert 7 * HOUR < ran.outcome.end[0] < 7.7 * HOUR


def test_many_that_fall_silent_together_are_left_alone():
    columns, parts = hanging(count=8)
    recovery = HangsOnce([])
    ran = Ran(
        columns,
        POLICIES["fifo"](),
        cluster=GpuPool(8),
        recovery=recovery,
        diagnoses=Diagnoses(recovery),
        **parts,
    )

    assert not ran.of("requeue")
    assert ran.outcome.end.tolist() == (columns.submit + columns.duration).tolist()


def test_without_a_tracker_or_a_handler_a_hung_job_sits_there():
    columns, parts = hanging()
    alone = Ran(columns, POLICIES["fifo"](), **parts)
    blind = Ran(columns, POLICIES["fifo"](), diagnoses=Diagnoses(AtOnce(columns.duration.tolist())))

    assert alone.outcome.end.tolist() == blind.outcome.end.tolist() == [10 + 10 * HOUR]


class SlowOwners(AtOnce):
    def by_hand_s(self, job):
        return 5 * HOUR


def test_a_job_of_a_failed_node_comes_back_by_the_engines_word_and_not_on_that_node():
    columns = trace((0, HOUR, 2))
    recovery = SlowOwners([HOUR])
    taken = []

    class Noting(Nodes):
        def take(self, gpus, kind=None, excluded=()):
            place = super().take(gpus, kind, excluded)
            taken.append((tuple(excluded), place))
            return place

    named = {"faults": [Fault(0, 600.0, 660.0)], "recovery": recovery}
    ran = Ran(
        columns,
        POLICIES["fifo"](),
        cluster=Noting([2, 2]),
        diagnoses=Diagnoses(recovery),
        **named,
    )
    by_hand = Ran(columns, POLICIES["fifo"](), cluster=Nodes([2, 2]), **named)

    [requeue] = ran.of("requeue")
    assert requeue.exclude_nodes == ("0",)
    assert taken[-1] == ((0,), ((1, 2),))
    assert ran.outcome.end[0] == HOUR + (630 + 120 - 600)
    assert by_hand.outcome.end[0] == HOUR + 5 * HOUR


@pytest.mark.parametrize("retries", [0, 2])
def test_the_budget_is_the_engines_and_then_the_owner_comes_back(retries):
    columns = trace((0, HOUR, 2))
    recovery = SlowOwners([HOUR])
    faults = [Fault(node, 600.0 + 900.0 * node, 10 * HOUR) for node in range(3)]
    ran = Ran(
        columns,
        POLICIES["fifo"](),
        cluster=Nodes([2] * 20),
        diagnoses=Diagnoses(recovery),
        limits=DecisionLimits(retries=retries),
        recovery=recovery,
        faults=faults,
    )

    assert len(ran.of("requeue")) == (0 if retries == 0 else 3), "each got further than the last"
    assert (ran.outcome.end[0] > 5 * HOUR) == (retries == 0)


LOWER = TimeLimits(lower=True)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 20_000), st.integers(60, 60_000), st.integers(1, 4), st.floats(0.01, 3.0)
        ),
        min_size=1,
        max_size=12,
    ),
    policy=st.sampled_from(["easy", "conservative", "multifactor"]),
    tracked=st.booleans(),
)
def test_no_run_ends_by_a_limit_of_ours(rows, policy, tracked):
    """However wrong the prediction: the user's own limit is given back in time."""
    rows = sorted(rows)
    columns = trace(*(row[:3] for row in rows), time_limit=100 * HOUR)
    wrong = columns.duration * np.array([row[3] for row in rows])
    estimates = replace(Estimates.exactly(wrong, "test"), basis=["identical"] * len(rows))
    tracker = Tracker(draw_workload(columns, seed=0), seed=0) if tracked else None
    ran = Ran(
        columns,
        POLICIES[policy](),
        cluster=GpuPool(4),
        estimates=estimates,
        time_limits=LOWER,
        tracker=tracker,
    )

    assert STATES.index(JobState.TIMEOUT) not in ran.outcome.status.tolist()
    assert ran.outcome.end == pytest.approx(ran.outcome.start + columns.duration)
    assert len(ran.events) < 40 * len(rows), "a run that is over is no longer looked at"


def test_a_lowered_limit_that_is_never_given_back_would_kill():
    """The simulated scheduler means it: what saves a run is the engine."""

    class Deaf(SimulatedDaemon):
        def _watch_limit(self, job):
            """It does not look."""

    columns = trace((0, 10, 1), (0, HOUR, 1), (1, 20 * HOUR, 1), time_limit=100 * HOUR)
    estimates = replace(
        Estimates.exactly(np.array([10.0, 60.0, 60.0]), "test"), basis=["identical"] * 3
    )
    shell = Deaf(DecisionEngine(ordering("sjf"), None, LOWER), columns, predictor=Fixed(estimates))
    outcome = SimulationEngine(
        columns,
        job_columns(columns, oracle(columns)),
        POLICIES["easy"](),
        GpuPool(1),
        physics=Plain([1, 1, 1]),
        beside=shell,
    ).run()

    assert outcome.status[2] == STATES.index(JobState.TIMEOUT)
    assert outcome.end[2] - outcome.start[2] < HOUR


def test_a_lowered_limit_lets_a_job_fill_a_gap():
    """Its user asked for days; by its prediction it is done before the head of the queue starts."""
    rows = [(0, 2 * HOUR, 3), (100, HOUR, 4), (200, 1000, 1)]
    columns = replace(trace(*rows), limit=np.array([2 * HOUR, HOUR, 100 * HOUR]))
    estimates = replace(oracle(columns), basis=["identical"] * 3)
    plain, lowered = (
        Ran(
            columns,
            POLICIES["easy"](),
            cluster=GpuPool(4),
            estimates=estimates,
            order="fifo",
            time_limits=TimeLimits(lower=lower),
        )
        for lower in (False, True)
    )

    assert plain.outcome.start[2] == 3 * HOUR
    assert lowered.outcome.start[2] < 300
    assert lowered.outcome.start[1] == plain.outcome.start[1] == 2 * HOUR


ASKING = sorted(name for name, policy in POLICIES.items() if policy.kind == "asking")


@pytest.mark.parametrize("name", [*BESIDE, *ASKING])
def test_jobs_that_fail_and_hang_all_end_under_every_policy(name):
    """Preempted, packed or stretched: a requeue finds the run that was meant, or none."""
    rng = np.random.default_rng(7)
    rows = sorted(
        (int(t), int(s), int(g)) for t, s, g in rng.integers(1, [40_000, 30_000, 4], (30, 3))
    )
    columns = trace(*rows, time_limit=100 * HOUR)
    workload = replace(draw_workload(columns, seed=0), log_every_s=np.full(30, 30.0))
    hangs = rng.random(30) < 0.3
    silences = Silences(
        np.where(hangs, 0.3 * columns.duration, np.inf), np.where(hangs, 0.6 * columns.duration, 0)
    )
    recovery = SlowOwners(columns.duration.tolist())
    ran = Ran(
        columns,
        POLICIES[name](),
        cluster=Nodes([4, 4]),
        order="fifo",
        recovery=recovery,
        diagnoses=Diagnoses(recovery),
        tracker=Tracker(workload, seed=0),
        silences=silences,
        faults=[Fault(int(n % 2), 9000.0 * n, 9000.0 * n + 4000) for n in range(1, 12)],
    )

    assert ran.of("requeue")
    assert not np.isnan(ran.outcome.end).any()
    assert (ran.outcome.end > ran.outcome.start).all()


def test_a_preempted_job_is_seen_waiting_and_a_hang_of_its_old_run_is_no_longer_meant():
    columns = trace((10, 10 * HOUR, 1), (4 * HOUR + 700, 60, 1))
    workload = replace(
        draw_workload(columns, seed=0), log_every_s=np.full(2, 60.0), planned_s=columns.duration
    )
    silences = Silences(np.array([4 * HOUR, np.inf]), np.array([6 * HOUR, 0.0]))
    recovery = SlowOwners(columns.duration.tolist())
    ran = Ran(
        columns,
        POLICIES["srtf-oracle"](),
        order="fifo",
        recovery=recovery,
        diagnoses=Diagnoses(recovery),
        tracker=Tracker(workload, seed=0),
        silences=silences,
    )

    states = [
        (event.job.state, event.job.restarts)
        for event in ran.events
        if type(event).__name__ == "JobSeen" and event.job.id == "0"
    ]
    assert (JobState.RUNNING, 1) in states
    assert not ran.of("requeue"), "silent from before this run began: its rhythm is unknown"

"""What is remembered of a job, and of its attempts."""

from __future__ import annotations

import pytest

from schedmate.core.attempts import Attempt, Hung, Reached, got_further, same_failure
from schedmate.core.events import JobDiagnosed, Past
from schedmate.core.known_job import KnownJob
from schedmate.core.successors import may_be_child, successor, was_submitted_since
from schedmate.model import Blame, JobState
from schedmate.testing.builders import a_diagnosis, a_job, an_advice


def test_an_engine_that_was_not_there_knows_all_that_is_stored():
    attempts = {0: Attempt(diagnosis=a_diagnosis())}
    past = Past(
        attempts=attempts,
        advice=an_advice(),
        user_limit_s=9.0,
        our_limit_s=3.0,
        hold="ours",
        left_for="gpu_oom",
        planned=True,
        waited_s=7.0,
        retried=True,
        reverted=True,
    )
    known = KnownJob.met(a_job(dependency="afterany:5(unfulfilled)"), past)
    for name in Past.__dataclass_fields__:
        assert getattr(known, name) == getattr(past, name), name
    assert known.read
    assert known.awaited == {"5"}
    assert not KnownJob.met(a_job(), Past()).read


def test_a_diagnosis_is_of_the_run_that_is_there_or_of_an_earlier_one():
    hung, reached = Hung(ran_s=5.0), Reached(done=3.0)
    job = a_job(restarts=1, state=JobState.RUNNING, nodes=("n2",))
    before = Attempt(diagnosis=a_diagnosis("hang"), nodes=("n1",), hung=hung)
    known = KnownJob(job, attempts={0: before}, hung=hung)
    later = a_diagnosis("gpu_ecc")

    def of(attempt: int) -> Attempt:
        return known.attempt(JobDiagnosed(9.0, "1", attempt, later, reached))

    assert of(1) == Attempt(diagnosis=later, nodes=("n2",), reached=reached, hung=hung)
    assert of(0) == Attempt(diagnosis=later, nodes=("n1",), reached=reached, hung=hung)
    assert of(7) == Attempt(diagnosis=later, reached=reached)
    known.job = a_job(restarts=1, state=JobState.FAILED, nodes=("n2",))
    assert of(1).hung is None


@pytest.mark.parametrize(
    ("unit", "began", "further"),
    [("step", 700, True), ("step", 690, None), ("epoch", 690, True), ("epoch", 390, None)],
)
def test_who_begins_at_the_checkpoint_has_not_started_over(unit, began, further):
    """Of epochs a checkpoint's step says nothing: half of what was done has to do."""
    before = Reached(unit=unit, began=0, done=800, saved=700)
    assert got_further([before], Reached(unit=unit, began=began, done=1500, saved=1400)) is further


@pytest.mark.parametrize(("nodes", "same"), [("n1 n2", True), ("n2 n3", False), ("n2 n1", True)])
def test_a_node_s_fault_without_a_name_is_the_same_on_the_same_nodes_only(nodes, same):
    sick = a_diagnosis("gpu_ecc", blame=Blame())
    before, now = (Attempt(diagnosis=sick, nodes=tuple(one.split())) for one in ("n1 n2", nodes))
    assert sick.decision.retry == "elsewhere"
    assert same_failure(before, now) is same


@pytest.mark.parametrize(("start", "since"), [(None, True), (4900.0, True), (4300.0, False)])
def test_who_waited_for_long_has_not_run_beside_it(start, since):
    job = a_job(state=JobState.FAILED, submit_time=0.0, start_time=10.0, end_time=5000.0)
    other = a_job(id="2", submit_time=4000.0, start_time=start)
    assert was_submitted_since(other, job, 5000.0) is since


def test_every_other_job_is_looked_at():
    job = a_job(state=JobState.FAILED, submit_time=0.0, start_time=10.0, end_time=900.0)
    before, again = (a_job(id=n, submit_time=at) for n, at in (("0", 0.0), ("2", 890.0)))
    none: frozenset[str] = frozenset()
    others = [(a_job(id="7", state=JobState.CANCELLED, start_time=None), none), (before, none)]
    assert successor(job, [*others, (again, none)], 900.0) is not None
    assert successor(job, others, 900.0) is None


@pytest.mark.parametrize(
    ("parts", "child"),
    [
        ({}, True),
        ({"id": "1"}, False),
        ({"restarts": 1}, False),
        ({"state": JobState.CANCELLED, "start_time": None}, False),
        ({"state": JobState.CANCELLED}, True),
    ],
)
def test_who_is_the_run_itself_or_was_there_before_is_no_child_of_it(parts, child):
    job = a_job(state=JobState.FAILED, start_time=10.0, end_time=900.0, submit_host="login")
    other = a_job(**({"id": "2", "submit_time": 500.0, "submit_host": "n1"} | parts))
    assert may_be_child(other, job, {"n1"}, 900.0) is child

"""Jobs that get further each time keep their budget; those that do not use it up."""

from __future__ import annotations

from dataclasses import replace

from schedmate.core import DecisionLimits
from schedmate.model import JobState, NodeState
from schedmate.service.records.attempts import attempts_before, reached_in
from schedmate.testing.builders import a_job, a_progress
from schedmate.testing.scheduler import FakeScheduler
from service.dying import look

LIMITS = DecisionLimits(retries=2, retries_in_all=5)
NODES = tuple(f"n{number}" for number in range(40))


def live(store, tmp_path, first_step):
    """Node after node fails; every attempt begins at the step that `first_step` gives for it."""
    scheduler = FakeScheduler()
    scheduler.node_states = {name: NodeState(name=name, condition="up") for name in NODES}
    log = tmp_path / "log"
    scheduler.put(a_job(workdir=str(tmp_path), logs=(str(log),)))
    for day in range(9):
        job = scheduler.known["1"]
        if job.state is not JobState.PENDING:
            break
        begin, at = first_step(day), 10_000.0 * (day + 1)
        lines = [f"step {begin + n}/9999 loss 2.{n}\n" for n in range(100)]
        log.write_text("".join(lines) + f"Saved checkpoint at step {begin + 90}\n")
        ran = replace(job, state=JobState.NODE_FAIL, nodes=(NODES[day],))
        scheduler.put(replace(ran, start_time=at, end_time=at + 1000))
        look(scheduler, store, at + 1001, limits=LIMITS, looks=2)
    return scheduler.known["1"]


def test_a_job_that_gets_further_each_time_goes_on_to_the_absolute_bound(store, tmp_path):
    job = live(store, tmp_path, lambda day: 90 * day + 1)

    assert job.restarts == LIMITS.retries_in_all
    assert set(attempts_before(job, store)) == set(range(5))
    decided = [one.action for one in store.actions(job_id="1")]
    assert decided[-1].reason.code == "all_retries_used"
    excluded = [one.exclude_nodes for one in decided if one.kind == "requeue"]
    assert excluded[:5] == [(node,) for node in NODES[:5]], "each is excluded once"
    assert job.request.exclude_nodes == NODES[:5], "blamed nodes add up"


def test_a_job_that_starts_over_each_time_uses_up_its_retries(store, tmp_path):
    assert live(store, tmp_path, lambda _: 1).restarts == LIMITS.retries


def test_how_far_a_run_is_that_still_runs_is_what_was_seen_last(store):
    job = a_job(state=JobState.RUNNING)
    assert reached_in(job, store).done is None
    store.keep_progress("1", 0, a_progress(unit="step", current=50.0), at=1.0)
    assert (reached_in(job, store).unit, reached_in(job, store).done) == ("step", 50.0)

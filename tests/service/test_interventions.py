"""Queueing a job again by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.model import JobState, SchedulerError
from schedmate.service.usecases import interventions
from schedmate.testing.builders import a_job
from schedmate.testing.scheduler import FakeScheduler


class SlowToStop(FakeScheduler):
    """Says that the old run is being stopped, and refuses the second time."""

    asked = 0

    def requeue(self, job_id, *, run, exclude_nodes=(), delay_s=0.0):
        self.asked += 1
        if self.asked == 1:
            return False
        raise SchedulerError(f"job {job_id} has been queued again meanwhile")


@pytest.fixture
def scheduler(monkeypatch):
    monkeypatch.setattr(interventions, "_POLL_S", 0.0)
    scheduler = SlowToStop()
    scheduler.put(a_job(state=JobState.RUNNING))
    return scheduler


def test_a_job_that_has_started_again_meanwhile_was_queued_again(scheduler, monkeypatch):
    first = scheduler.requeue

    def requeue(job_id, **parts):
        done = first(job_id, **parts) if not scheduler.asked else None
        scheduler.put(replace(scheduler.jobs(["1"])[0], restarts=1))
        return first(job_id, **parts) if done is None else done

    monkeypatch.setattr(scheduler, "requeue", requeue)
    interventions.requeue(scheduler, "1")


def test_a_refusal_of_a_job_that_is_where_it_was_is_said(scheduler):
    with pytest.raises(SchedulerError):
        interventions.requeue(scheduler, "1")

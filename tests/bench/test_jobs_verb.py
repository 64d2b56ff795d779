"""What `schedmate jobs` costs where the queue is long, and what it shows first."""

import pytest

from bench.speed.jobs_verb import long_queue

pytestmark = [pytest.mark.slow, pytest.mark.processes]
BUSY_MACHINE = 1.6
"""Processor time is longer beside other work."""


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    return long_queue(tmp_path_factory.mktemp("long"), running=1500, waiting=3000, ended=200)


def test_a_long_queue_is_shown_in_half_a_second(queue):
    queue.run_verb("jobs")
    cost = min((queue.run_verb("jobs") for _ in range(3)), key=lambda one: one.cpu_s)
    assert cost.cpu_s < 0.5 * BUSY_MACHINE
    assert "50 of 4700 jobs" in cost.said
    head, *rows = cost.lines
    assert head.startswith("JOBID")
    assert len(rows) == 50
    assert all(" FAILED " in row or " TIMEOUT " in row or "_" in row for row in rows[:3])


def test_more_and_all_can_be_asked_for(queue):
    assert len(queue.run_verb("jobs", "--limit", "200").lines) == 201
    waiting = queue.run_verb("jobs", "-s", "PENDING", "-u", "ada,ben", "--all")
    users = {line.split()[2] for line in waiting.lines[1:]}
    assert users == {"ada", "ben"}
    assert waiting.said == ""

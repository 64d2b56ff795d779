"""Work that one user submits together has one place, however many jobs it is split into."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedmate.core import Act, DecisionEngine, JobAdvised, JobForgotten, JobSeen, Past
from schedmate.core.together import WITHIN_S
from schedmate.model import JobState
from schedmate.policies import ordering
from schedmate.testing.builders import a_job, an_advice

HOUR = 3600.0


class Queue:
    """What an engine makes of jobs that are read as soon as they are seen."""

    def __init__(self):
        self.engine = DecisionEngine(ordering("ssf"))
        self.numbers = {}
        self.asked = 0

    def tell(self, event):
        for one in self.engine.handle(event):
            if isinstance(one, Act):
                self.numbers[one.action.job_id] = int(one.action.value)
                self.asked += 1
                self.why = one.action.why

    def submit(self, job_id, hours, **parts):
        job = a_job(**{"id": job_id, "most_nice": 1000, "submit_time": 0.0, **parts})
        self.tell(JobSeen(job.submit_time + 10, job))
        self.tell(JobAdvised(job.submit_time + 11, job_id, an_advice(hours * HOUR)))

    def places(self, *ids):
        return [self.numbers[one] for one in ids]


@pytest.fixture
def whole():
    queue = Queue()
    queue.submit("1", 8)
    return queue.numbers["1"]


def test_the_last_of_four_quarters_stands_where_the_whole_does(whole):
    queue = Queue()
    for number in "1234":
        queue.submit(number, 2, submit_time=float(number))
    assert queue.places(*"1234") == sorted(queue.numbers.values())
    assert queue.numbers["1"] < queue.numbers["4"] == whole
    assert "one piece of work with 3 more that its owner submitted then" in queue.why


def test_parts_that_become_shorter_count_as_well(whole):
    queue = Queue()
    for number, hours in zip("1234", (2.3, 2.1, 1.9, 1.7), strict=True):
        queue.submit(number, hours)
    assert queue.numbers["4"] == whole


def test_a_short_job_does_not_stand_behind_a_long_one_of_its_owner():
    queue, alone = Queue(), Queue()
    queue.submit("1", 8)
    for each in (queue, alone):
        each.submit("2", 1)
    assert queue.numbers["2"] == alone.numbers["2"]


def test_an_array_is_one_piece_however_many_of_its_tasks_have_started(whole):
    queue = Queue()
    queue.submit("1", 1, tasks=8)
    assert queue.numbers["1"] == whole
    queue.tell(JobSeen(60.0, a_job(id="1", most_nice=1000, nice=whole, tasks=2, submit_time=0.0)))
    queue.submit("2", 0.5, submit_time=60.0)
    assert queue.numbers["2"] > whole


def test_a_task_that_has_started_is_not_counted_beside_its_array(whole):
    queue = Queue()
    queue.submit("1", 1, tasks=7)
    queue.submit("1_0", 1, state=JobState.RUNNING, start_time=20.0)
    queue.submit("2", 1)
    assert queue.numbers["2"] == whole


def test_what_has_run_and_is_forgotten_still_counts(whole):
    queue = Queue()
    for number in "123":
        queue.submit(number, 2)
        running = a_job(id=number, state=JobState.RUNNING, start_time=20.0, submit_time=0.0)
        queue.tell(JobSeen(20.0, running))
    for number in "12":
        queue.tell(JobForgotten(30.0, number))
    queue.submit("4", 2)
    assert queue.numbers["4"] == whole


def test_what_is_forgotten_as_a_whole_counts_no_more():
    queue = Queue()
    queue.submit("1", 1)
    queue.tell(JobForgotten(30.0, "1"))
    queue.submit("2", 1, submit_time=40.0)
    alone = Queue()
    alone.submit("2", 1, submit_time=40.0)
    assert queue.numbers["2"] == alone.numbers["2"]


@pytest.mark.parametrize(
    "other", [{"user": "grace"}, {"submit_time": WITHIN_S + 1}], ids=["another user", "later"]
)
def test_what_was_not_submitted_together_counts_alone(other):
    queue, alone = Queue(), Queue()
    queue.submit("1", 1)
    queue.submit("2", 1, **other)
    alone.submit("2", 1, **other)
    assert queue.numbers["2"] == alone.numbers["2"]


def test_a_job_that_has_its_place_keeps_it():
    """A restarted daemon counts less of what was submitted with it: some of that has ended."""
    first = Queue()
    for number in "1234":
        first.submit(number, 2)
    again = Queue()
    for number in "34":
        known = first.engine.known[number]
        past = Past(nice=known.nice, advice=an_advice(2 * HOUR))
        shown = replace(known.job, nice=first.numbers[number])
        again.tell(JobSeen(99.0, shown, past))
    assert again.numbers == {}

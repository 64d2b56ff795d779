from schedmate.model import JobState
from schedmate.service.views.parts import Parts, parts_of
from schedmate.testing.builders import a_job


def test_a_job_without_parts_has_none():
    assert parts_of("7", [a_job(id="7")]) == ()
    assert parts_of("7", []) == ()


def test_the_parts_of_an_array_by_state():
    waiting = a_job(id="7", state=JobState.PENDING, tasks=90)
    ended = [a_job(id=f"7_{n}", state=JobState.FAILED) for n in range(11)]
    running = a_job(id="7_11", state=JobState.RUNNING)
    parts = parts_of("7", [*reversed(ended), running, waiting])
    assert [(part.state, part.tasks) for part in parts] == [
        (JobState.PENDING, 90),
        (JobState.RUNNING, 1),
        (JobState.FAILED, 11),
    ]
    assert [part.in_words() for part in parts] == [
        "90 PENDING: 7",
        "1 RUNNING: 7_11",
        "11 FAILED: 7_0, 7_1, 7_2, 7_3, 7_4, 7_5, 7_6, 7_7, …",
    ]


def test_an_array_that_only_waits_has_parts():
    (waiting,) = parts_of("7", [a_job(id="7", state=JobState.PENDING, tasks=3)])
    assert waiting == Parts(state=JobState.PENDING, tasks=3, ids=("7",), shown="7")


def test_the_parts_of_a_heterogeneous_job():
    jobs = [a_job(id=f"7+{n}", state=JobState.PENDING) for n in range(2)]
    (waiting,) = parts_of("7", jobs)
    assert (waiting.tasks, waiting.ids) == (2, ("7+0", "7+1"))

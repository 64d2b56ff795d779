"""A place in the queue is found without looking at each job."""

from hypothesis import given
from hypothesis import strategies as st

from schedmate.model import JobState, Request
from schedmate.service.views.queue_order import QueueOrder, may_start, queue_place, turn
from schedmate.testing.builders import a_job

PARTITIONS = st.sampled_from(["a", "b", "a,b", "c", None])
JOBS = st.lists(
    st.builds(
        lambda place, state, partition, priority, reason: a_job(
            id=str(place),
            state=state,
            request=Request(partition=partition),
            priority=priority,
            submit_time=float(place % 3),
            reason=reason,
        ),
        st.integers(1, 50),
        st.sampled_from([JobState.PENDING, JobState.RUNNING, JobState.FAILED]),
        PARTITIONS,
        st.sampled_from([None, 1, 2]),
        st.sampled_from(["", "Dependency", "BadConstraints"]),
    ),
    unique_by=lambda job: job.id,
    min_size=1,
    max_size=12,
)


def names(job):
    return set((job.request.partition or "").split(","))


@given(JOBS)
def test_it_counts_what_a_look_at_each_job_would(queue):
    order = QueueOrder(queue, 100.0)
    for job in queue:
        rivals = [
            other
            for other in queue
            if other.id != job.id and (job.priority is None or names(job) & names(other))
        ]
        if job.state is JobState.PENDING:
            running = sum(other.state is JobState.RUNNING for other in rivals)
            ahead = sum(may_start(other, 100.0) and turn(other) < turn(job) for other in rivals)
            assert order.before(job) == (running, ahead)


def test_what_runs_comes_first_and_then_what_waits_by_its_turn():
    states = (JobState.FAILED, JobState.PENDING, JobState.RUNNING)
    jobs = [a_job(id=str(10 - place), state=state) for place, state in enumerate(states)]
    jobs.append(a_job(id="7", state=JobState.PENDING, priority=5))
    assert [job.id for job in sorted(jobs, key=queue_place)] == [
        "8",
        "7",
        "9",
        "10",
    ]

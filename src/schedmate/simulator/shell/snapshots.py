"""The jobs of a simulated scheduler as its adapter shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schedmate.model import Job, JobId, JobState, Request
from schedmate.simulator.engine.steering import Steered
from schedmate.simulator.traces.columns import STATES, TraceColumns


class Snapshots:
    """A job that its owner submits again is another job to the scheduler: it gets a new id."""

    def __init__(
        self, columns: TraceColumns, scheduler: Steered, comments: Mapping[int, str]
    ) -> None:
        count = len(columns)
        self._comments = comments
        self._columns = columns
        self._scheduler = scheduler
        self._number: dict[JobId, int] = {}
        self._id: list[JobId] = [""] * count
        self._state = [JobState.PENDING] * count
        self._requests: dict[int, Request] = {}
        self._lowered: set[int] = set()
        self._submissions = [0] * count
        self._runs = [0] * count
        self._restarts = [0] * count
        self._began: list[float | None] = [None] * count
        self._ended: list[float | None] = [None] * count
        self._nodes: dict[int, tuple[str, ...]] = {}
        self._over: set[int] = set()
        self._held: set[int] = set()

    def submitted(self, job: int) -> JobId | None:
        """The id under which it was known before, where it was."""
        before = self._id[job]
        again = self._submissions[job]
        self._submissions[job] = again + 1
        name = self._columns.ids[job]
        self._id[job] = f"{name}.{again}" if again else name
        self._number.pop(before, None)
        self._number[self._id[job]] = job
        self._state[job] = JobState.PENDING
        self._began[job] = self._ended[job] = None
        self._restarts[job] = 0
        self._nodes.pop(job, None)
        self._requests[job] = self._request(job)
        self._lowered.discard(job)
        return before or None

    def started(self, job: int) -> None:
        self._state[job] = JobState.RUNNING
        self._began[job], self._ended[job] = self._scheduler.now, None
        self._runs[job] += 1
        self._nodes[job] = tuple(str(node) for node in self._scheduler.nodes_of(job))

    def preempted(self, job: int) -> None:
        self._state[job] = JobState.PENDING
        self._restarts[job] += 1
        self._began[job] = None

    def ended(self, job: int, state: JobState | None) -> None:
        """As the trace has it, unless a state is given."""
        self._state[job] = state or STATES[int(self._columns.status[job])]
        self._ended[job] = self._scheduler.now
        self._over.add(job)

    def failed(self, job: int, nodes: Sequence[int]) -> None:
        self._state[job] = JobState.NODE_FAIL
        self._ended[job] = self._scheduler.now
        self._nodes[job] = tuple(str(node) for node in nodes)

    def requeued(self, job: int, attempt: int) -> bool:
        """Whether the run that was meant could still be queued again."""
        refused = job in self._over or self._restarts[job] != attempt
        if refused or self._state[job] is JobState.PENDING:
            return False
        self._state[job] = JobState.PENDING
        self._restarts[job] += 1
        self._began[job] = self._ended[job] = None
        return True

    def hold(self, job: int) -> None:
        self._held.add(job)

    def release(self, job: int) -> bool:
        """Whether it was held."""
        held = job in self._held
        self._held.discard(job)
        return held

    def is_held(self, job: int) -> bool:
        return job in self._held

    def attempt(self, job: int) -> int:
        return self._restarts[job]

    def limited(self, job: int, seconds: float | None) -> None:
        self._requests[job] = replace(self._requests[job], time_limit_s=seconds)
        limit = float(self._columns.limit[job])
        if seconds is not None and seconds < limit:
            self._lowered.add(job)
        else:
            self._lowered.discard(job)

    def of(self, job: int) -> Job:
        columns, state = self._columns, self._state[job]
        pending = state is JobState.PENDING and job not in self._held
        return Job(
            id=self._id[job],
            name=columns.name[job],
            user=columns.user[job],
            state=state,
            workdir="",
            request=self._requests[job],
            submit_time=self._scheduler.jobs.submit[job],
            start_time=self._began[job],
            end_time=self._ended[job],
            restarts=self._restarts[job],
            nodes=self._nodes.get(job, ()),
            nice=self._scheduler.jobs.nice[job],
            most_nice=self._scheduler.most_nice if pending else None,
            priority=self._scheduler.priority(job) if pending else None,
            nice_an_hour=self._scheduler.nice_an_hour,
            comment=self._comments.get(job, ""),
            held=job in self._held,
            can_requeue=True,
        )

    def _request(self, job: int) -> Request:
        columns = self._columns
        limit = float(columns.limit[job])
        return Request(
            gpus=int(columns.gpus[job]),
            nodes=max(1, int(columns.nodes[job])),
            time_limit_s=limit if limit < float("inf") else None,
            partition=columns.group[job],
        )

    def number(self, job_id: JobId) -> int:
        return self._number[job_id]

    def id(self, job: int) -> JobId:
        return self._id[job]

    def state(self, job: int) -> JobState:
        return self._state[job]

    def began(self, job: int) -> float:
        return self._began[job] or 0.0

    def is_over(self, job: int) -> bool:
        """Whether it has ended for good, in whatever way."""
        return job in self._over

    def is_lowered(self, job: int) -> bool:
        """Whether its limit is below what its owner asked for."""
        return job in self._lowered

    def version(self, job: int, *, submissions: bool) -> int:
        """How often it was submitted, or has run."""
        return (self._submissions if submissions else self._runs)[job]

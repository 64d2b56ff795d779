"""A scheduler in memory, for tests of what talks to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schedmate.model import (
    Job,
    JobId,
    JobState,
    NodeState,
    NotFound,
    SchedulerError,
    Submission,
    array_of,
)


@dataclass(slots=True)
class FakeScheduler:
    """Fulfils `Scheduler`. Nothing runs: the test sets the states of its jobs.

    `calls` lists what was changed, in order. Put an error into `trouble` and every call raises
    it until it is taken out again; with `lose_answers` a change is made before it is raised.
    """

    name: str = "fake"
    known: dict[JobId, Job] = field(default_factory=dict)
    scripts: dict[JobId, str] = field(default_factory=dict)
    node_states: dict[str, NodeState] = field(default_factory=dict)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    trouble: BaseException | None = None
    lose_answers: bool = False

    def put(self, job: Job) -> None:
        """Show this job from now on."""
        self.known[job.id] = job

    def submit(self, submission: Submission) -> JobId:
        self._reach()
        job_id = str(len(self.known) + 1)
        self.put(
            Job(
                id=job_id,
                name=submission.name,
                user="ada",
                state=JobState.PENDING,
                workdir=submission.workdir,
                command=submission.command,
                script=submission.script,
                request=submission.request,
                submit_time=0.0,
                nice=submission.nice,
            )
        )
        self._done("submit", job_id)
        return job_id

    def jobs(self, ids: Sequence[JobId] | None = None) -> list[Job]:
        self._reach()
        return [
            job
            for job in self.known.values()
            if ids is None or job.id in ids or array_of(job.id) in ids
        ]

    def nodes(self, names: Sequence[str] | None = None) -> list[NodeState]:
        self._reach()
        known = self.node_states.values()
        return [node for node in known if names is None or node.name in names]

    def script(self, job_id: JobId) -> str | None:
        self._job(job_id)
        return self.scripts.get(job_id)

    def cancel(self, job_id: JobId) -> None:
        job = self._job(job_id)
        if not job.state.ended:
            self.put(replace(job, state=JobState.CANCELLED, end_time=job.submit_time))
        self._done("cancel", job_id)

    def requeue(
        self,
        job_id: JobId,
        *,
        run: int,
        exclude_nodes: Sequence[str] = (),
        delay_s: float = 0.0,  # noqa: ARG002 - nothing starts here
        held: bool = False,
    ) -> bool:
        job = self._job(job_id)
        if job.restarts == run + 1 and job.state is JobState.PENDING:
            self.put(replace(job, held=job.held or held))
            return True
        if run != job.restarts:
            raise SchedulerError(f"job {job_id} has been queued again meanwhile")
        if job.state is JobState.PENDING:
            raise SchedulerError(f"job {job_id} is waiting already")
        nodes = dict.fromkeys([*job.request.exclude_nodes, *exclude_nodes])
        request = replace(job.request, exclude_nodes=tuple(nodes))
        again = replace(job, state=JobState.PENDING, restarts=job.restarts + 1, request=request)
        again = replace(again, held=job.held or held)
        self.put(replace(again, start_time=None, end_time=None, exit_code=None, signal=None))
        self._done("requeue", job_id)
        return True

    def may_run_on(self, job: Job, node: NodeState) -> bool:
        """As far as names and partitions say."""
        partitions = set((job.request.partition or "").split(",")) - {""}
        allowed = not partitions or bool(partitions & set(node.partitions))
        return allowed and node.name not in job.request.exclude_nodes

    def hold(self, job_id: JobId) -> None:
        job = self._job(job_id)
        if job.state is not JobState.PENDING:
            raise SchedulerError(f"job {job_id} does not wait")
        self.put(replace(job, held=True))
        self._done("hold", job_id)

    def release(self, job_id: JobId) -> None:
        self.put(replace(self._job(job_id), held=False))
        self._done("release", job_id)

    def set_nice(self, job_id: JobId, nice: int) -> None:
        self.put(replace(self._job(job_id), nice=nice))
        self._done("set_nice", job_id, str(nice))

    def set_time_limit(self, job_id: JobId, seconds: float | None) -> None:
        job = self._job(job_id)
        self.put(replace(job, request=replace(job.request, time_limit_s=seconds)))
        self._done("set_time_limit", job_id, str(seconds))

    def set_time_min(self, job_id: JobId, seconds: float | None) -> None:
        job = self._job(job_id)
        self.put(replace(job, request=replace(job.request, time_min_s=seconds)))
        self._done("set_time_min", job_id, str(seconds))

    def set_excluded(self, job_id: JobId, nodes: Sequence[str]) -> None:
        job = self._job(job_id)
        self.put(replace(job, request=replace(job.request, exclude_nodes=tuple(nodes))))
        self._done("set_excluded", job_id, *nodes)

    def set_dependency(self, job_id: JobId, dependency: str) -> None:
        self.put(replace(self._job(job_id), dependency=dependency))
        self._done("set_dependency", job_id, dependency)

    def drain(self, node: str, reason: str) -> None:
        self._reach()
        state = self.node_states[node]
        if state.condition != "up":
            raise SchedulerError(f"node {node} is {state.condition} already")
        self.node_states[node] = replace(state, condition="drain", reason=reason)
        self._done("drain", node)

    def resume(self, node: str, reason: str) -> None:
        self._reach()
        state = self.node_states[node]
        if state.condition != "drain" or state.reason != reason:
            raise SchedulerError(f"node {node} was changed since")
        self.node_states[node] = replace(state, condition="up", reason="")
        self._done("resume", node)

    def _job(self, job_id: JobId) -> Job:
        self._reach()
        if job_id not in self.known:
            raise NotFound(f"there is no job {job_id}")
        return self.known[job_id]

    def _reach(self) -> None:
        if self.trouble is not None and not self.lose_answers:
            raise self.trouble

    def _done(self, *call: str) -> None:
        self.calls.append(call)
        if self.trouble is not None:
            raise self.trouble

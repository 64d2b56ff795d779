"""Small runs of a policy on the real engine."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from schedmate.policies import JobColumns, Policy
from schedmate.simulator.engine.cluster import GpuPool, Plain
from schedmate.simulator.engine.engine import SimulationEngine
from schedmate.simulator.traces.columns import columns_of
from schedmate.testing.builders import a_trace_job

Row = tuple[float, float, int]
"""Submitted, seconds, GPUs."""


def rows(*, most: int = 12, gpus: int = 4) -> st.SearchStrategy[list[Row]]:
    row = st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, gpus))
    return st.lists(row, min_size=1, max_size=most).map(sorted)


def columns(jobs: list[Row], users: list[str] | None = None):
    return columns_of(
        [
            a_trace_job(
                job_id=str(number),
                submit_time=submit,
                duration=seconds,
                gpus=gpus,
                user=users[number] if users else "ada",
            )
            for number, (submit, seconds, gpus) in enumerate(jobs)
        ]
    )


def seen(table, *, expected=None, planned=None, queue_key=None, nice=None) -> JobColumns:
    def told(values):
        return table.duration.tolist() if values is None else list(values)

    return JobColumns(
        submit=table.submit.tolist(),
        gpus=table.gpus.tolist(),
        user=table.user.codes.tolist(),
        group=table.group.codes.tolist(),
        name=table.name.codes.tolist(),
        limit=table.limit.tolist(),
        expected=told(expected),
        planned=told(planned),
        queue_key=[*range(len(table))] if queue_key is None else list(queue_key),
        nice=[0] * len(table) if nice is None else list(nice),
        log_sigma=[0.0] * len(table),
    )


class Shared(Plain):
    """Jobs with a measured use of their GPUs; two on one GPU slow each other down to `packed`."""

    def __init__(self, gpus, *, use=None, memory=None, packed=0.9, scaling=1.0):
        super().__init__(gpus, scaling=scaling)
        self._use = use or [0.2] * len(gpus)
        self._memory = memory or [0.2] * len(gpus)
        self._packed = packed

    def pace(self, job, gpus, companion, *, scattered):
        alone = super().pace(job, gpus, None, scattered=scattered)
        return alone if companion is None else alone * self._packed

    def utilization(self, job):
        return self._use[job]

    def memory_share(self, job):
        return self._memory[job]


class Watched(SimulationEngine):
    """Writes down who held how many GPUs, beside whom, from when to when."""

    def __init__(self, *parts, **named):
        super().__init__(*parts, **named)
        self.log: list[tuple[float, str, int, int]] = []

    def start(self, job, gpus=None, kind=None, excluded=()):
        done = super().start(job, gpus, kind, excluded)
        if done:
            self.log.append((self.now, "start", job, gpus or self.jobs.gpus[job]))
        return done

    def start_beside(self, job, host):
        done = super().start_beside(job, host)
        if done:
            self.log.append((self.now, "beside", job, host))
        return done

    def stop(self, job, *, keep_work=True):
        super().stop(job, keep_work=keep_work)
        self.log.append((self.now, "stop", job, int(keep_work)))


def run(
    policy: Policy,
    jobs: list[Row],
    *,
    gpus: int = 4,
    physics=None,
    cluster=None,
    users=None,
    restart_s: float = 0.0,
    **told,
):
    table = columns(jobs, users)
    engine = Watched(
        table,
        seen(table, **told),
        policy,
        cluster or GpuPool(gpus),
        physics=physics or Plain(table.gpus.tolist(), scaling=1.0),
        restart_s=restart_s,
    )
    return engine.run(), engine.log


def starts(policy: Policy, jobs: list[Row], **options) -> list[float]:
    return run(policy, jobs, **options)[0].start.tolist()


def ends(policy: Policy, jobs: list[Row], **options) -> list[float]:
    return run(policy, jobs, **options)[0].end.tolist()


def most_held(outcome, jobs: list[Row]) -> int:
    """GPUs in use at once, of a run in which nobody was stopped."""
    moments = np.unique(outcome.start)
    sizes = np.array([gpus for _, _, gpus in jobs])
    return max(int(sizes[(outcome.start <= at) & (at < outcome.end)].sum()) for at in moments)

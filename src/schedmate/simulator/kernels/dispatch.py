"""From what a policy declares to the kernel that does the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedmate.policies import JobColumns, KernelSpec, Policy
from schedmate.policies.disciplines import UNLIMITED_S, ExpectedDurations
from schedmate.simulator.engine.engine import StuckError
from schedmate.simulator.engine.outcome import SimulationOutcome
from schedmate.simulator.kernels.backfill import easy
from schedmate.simulator.kernels.books import END, GPU_S, SERVICE, START, STOPS, TIME
from schedmate.simulator.kernels.preemptive import run as preempt
from schedmate.simulator.kernels.static import first_fit, in_turn, strict
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns


@dataclass(frozen=True, slots=True, eq=False)
class KernelInput:
    """One run's columns, as the kernels take them."""

    columns: TraceColumns
    jobs: JobColumns
    total: int
    eligible: Floats
    arrivals: Ints
    duration: Floats
    gpus: Ints


def dispatch(
    policy: Policy,
    columns: TraceColumns,
    jobs: JobColumns,
    gpus: int,
    eligible: Floats | None,
    restart_s: float,
) -> SimulationOutcome:
    too_large = int(np.count_nonzero(columns.gpus > gpus))
    if too_large:
        raise StuckError(policy.name, too_large)
    if not len(columns):
        return SimulationOutcome.unbroken(columns, np.empty(0), np.empty(0))
    given = _given(columns, jobs, gpus, eligible)
    if policy.kernel is None:
        raise ValueError(f"{policy.name} has no kernel")
    if policy.kernel.kernel == "static":
        return SimulationOutcome.unbroken(columns, *_unbroken(policy, policy.kernel, given))
    return _preempted(policy, given, restart_s)


def _given(
    columns: TraceColumns, jobs: JobColumns, gpus: int, eligible: Floats | None
) -> KernelInput:
    times = _floats(columns.submit if eligible is None else eligible)
    return KernelInput(
        columns=columns,
        jobs=jobs,
        total=gpus,
        eligible=times,
        arrivals=np.argsort(times, kind="stable"),
        duration=_floats(columns.duration),
        gpus=np.ascontiguousarray(columns.gpus, dtype=np.int64),
    )


def _unbroken(policy: Policy, kernel: KernelSpec, given: KernelInput) -> tuple[Floats, Floats]:
    work = given.duration, given.gpus
    if kernel.discipline == "easy":
        planned = _floats(given.jobs.planned)
        plan = np.where(np.isfinite(planned), planned, UNLIMITED_S)
        ranks = ranks_of(_floats(given.jobs.queue_key))
        return easy(given.arrivals, given.eligible, *work, ranks, plan, given.total)
    key = keys_of(policy, given)
    if kernel.discipline == "strict" and _in_order(given.arrivals) and _in_order(key):
        return in_turn(given.eligible, *work, given.total)
    greedy = first_fit if kernel.discipline == "first_fit" else strict
    return greedy(given.arrivals, given.eligible, *work, key, given.total)


def _preempted(policy: Policy, given: KernelInput, restart_s: float) -> SimulationOutcome:
    book = preempt(
        SERVICE if policy.orders_by == "remaining_service" else TIME,
        given.arrivals,
        given.eligible,
        given.duration,
        given.gpus,
        expected_of(given),
        given.total,
        float(restart_s),
    )
    return SimulationOutcome(
        start=book[:, START].copy(),
        end=book[:, END].copy(),
        gpu_seconds=book[:, GPU_S].copy(),
        preemptions=book[:, STOPS].astype(np.int64),
        requeues=np.zeros(len(book), dtype=np.int64),
        status=given.columns.status,
    )


def keys_of(policy: Policy, given: KernelInput) -> Floats:
    if policy.orders_by == "submission":
        return _floats(given.jobs.queue_key)
    expected = expected_of(given)
    return expected * given.gpus if policy.orders_by == "service" else expected


def expected_of(given: KernelInput) -> Floats:
    """With a stand-in for jobs of unknown run time."""
    expected = _floats(given.jobs.expected)
    if not np.isnan(expected).any():
        return expected
    expectation = ExpectedDurations(expected.tolist())
    filled = np.empty(len(expected))
    for job in given.arrivals.tolist():
        filled[job] = expectation.submitted(job)
    return filled


def ranks_of(queue_key: Floats) -> Ints:
    ranks = np.empty(len(queue_key), dtype=np.int64)
    ranks[np.argsort(queue_key, kind="stable")] = np.arange(len(queue_key))
    return ranks


def _in_order(values: Floats | Ints) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _floats(values: object) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)

"""Compiled stand-ins for policies on a plain pool of GPUs, equal to the engine bit by bit.

Only where they pay: plain queues, EASY, and shortest remaining first. Start with `run_kernel`.
Numba is loaded only there; `available` is whether it is installed.
"""

from __future__ import annotations

from importlib.util import find_spec

from schedmate.policies import JobColumns, Policy
from schedmate.simulator.engine.outcome import SimulationOutcome
from schedmate.simulator.traces.columns import Floats, TraceColumns


def available() -> bool:
    return find_spec("numba") is not None


def run_kernel(
    policy: Policy,
    columns: TraceColumns,
    jobs: JobColumns,
    gpus: int,
    eligible: Floats | None = None,
    restart_s: float = 60.0,
) -> SimulationOutcome:
    """One run of a policy whose `kernel` names the one that stands in for it."""
    from schedmate.simulator.kernels.dispatch import dispatch  # noqa: PLC0415 - numba loads slowly

    return dispatch(policy, columns, jobs, gpus, eligible, restart_s)

"""Compiled stand-ins for policies on a plain pool of GPUs, equal to the engine bit by bit.

Start with `run_fast`. Numba is loaded only there; where it is not installed `available` says so.
"""

from __future__ import annotations

from importlib.util import find_spec

from schedmate.policies import Policy, Seen
from schedmate.simulator.columns import Columns, Floats
from schedmate.simulator.outcome import Outcome


def available() -> bool:
    return find_spec("numba") is not None


def run_fast(
    policy: Policy,
    columns: Columns,
    seen: Seen,
    gpus: int,
    eligible: Floats | None = None,
    restart_s: float = 60.0,
) -> Outcome:
    """One run of a policy that says in its `fast` which kernel stands in for it."""
    from schedmate.simulator.kernels.dispatch import dispatch  # noqa: PLC0415 - numba loads slowly

    return dispatch(policy, columns, seen, gpus, eligible, restart_s)

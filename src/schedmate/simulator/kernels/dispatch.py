"""From what a policy says of itself to the kernel that does the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from schedmate.policies import Fast, Policy, Seen
from schedmate.policies.disciplines import UNLIMITED_S, Expectation, Staged
from schedmate.simulator.columns import Columns, Floats, Ints
from schedmate.simulator.engine import StuckError
from schedmate.simulator.kernels.backfill import easy
from schedmate.simulator.kernels.books import END, GPU_S, SERVICE, STANDING, START, STOPS, TIME
from schedmate.simulator.kernels.conservative import conservative
from schedmate.simulator.kernels.preemptive import run as preempt
from schedmate.simulator.kernels.static import first_fit, in_turn, strict
from schedmate.simulator.outcome import Outcome

_NO_STAGES = np.empty((0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """One run's columns, as the kernels take them."""

    columns: Columns
    seen: Seen
    total: int
    eligible: Floats
    arrivals: Ints
    duration: Floats
    gpus: Ints


def dispatch(
    policy: Policy,
    columns: Columns,
    seen: Seen,
    gpus: int,
    eligible: Floats | None,
    restart_s: float,
) -> Outcome:
    too_large = int(np.count_nonzero(columns.gpus > gpus))
    if too_large:
        raise StuckError(policy.name, too_large)
    if not len(columns):
        return Outcome.unbroken(columns, np.empty(0), np.empty(0))
    given = _given(columns, seen, gpus, eligible)
    fast = cast("Any", policy).fast
    if fast.kernel == "static":
        return Outcome.unbroken(columns, *_unbroken(fast, given))
    return _preempted(policy, fast, given, restart_s)


def _given(columns: Columns, seen: Seen, gpus: int, eligible: Floats | None) -> Given:
    times = _floats(columns.submit if eligible is None else eligible)
    return Given(
        columns=columns,
        seen=seen,
        total=gpus,
        eligible=times,
        arrivals=np.argsort(times, kind="stable"),
        duration=_floats(columns.duration),
        gpus=np.ascontiguousarray(columns.gpus, dtype=np.int64),
    )


def _unbroken(fast: Fast, given: Given) -> tuple[Floats, Floats]:
    work = given.duration, given.gpus
    if fast.discipline in ("easy", "conservative"):
        planned = _floats(given.seen.planned)
        plan = np.where(np.isfinite(planned), planned, UNLIMITED_S)
        order = given.arrivals, given.eligible
        standing = standing_of(_floats(given.seen.place))
        if fast.discipline == "easy":
            return easy(*order, *work, standing, plan, given.total)
        depth = dict(fast.settings)["depth"]
        return conservative(*order, *work, standing, plan, given.total, depth)
    key = keys_of(fast, given)
    if fast.discipline == "strict" and _in_turn(given.arrivals) and _in_turn(key):
        return in_turn(given.eligible, *work, given.total)
    greedy = first_fit if fast.discipline == "first_fit" else strict
    return greedy(given.arrivals, given.eligible, *work, key, given.total)


def _preempted(policy: Policy, fast: Fast, given: Given, restart_s: float) -> Outcome:
    expected, bounds, standing = given.duration, _NO_STAGES, _NO_STAGES
    if fast.kernel == "staged":
        mode = STANDING
        stages = cast("Staged", policy).stages(given.seen)
        bounds, standing = _floats(stages.bounds), _floats(stages.keys)
    else:
        mode = SERVICE if fast.key == "expected_service" else TIME
        expected = expected_of(given)
    book = preempt(
        mode,
        given.arrivals,
        given.eligible,
        given.duration,
        given.gpus,
        expected,
        bounds,
        standing,
        given.total,
        float(restart_s),
    )
    return Outcome(
        start=book[:, START].copy(),
        end=book[:, END].copy(),
        gpu_seconds=book[:, GPU_S].copy(),
        preemptions=book[:, STOPS].astype(np.int64),
        status=given.columns.status,
    )


def keys_of(fast: Fast, given: Given) -> Floats:
    if fast.key == "place":
        return _floats(given.seen.place)
    expected = expected_of(given)
    return expected * given.gpus if fast.key == "expected_service" else expected


def expected_of(given: Given) -> Floats:
    """With what stands for jobs of which nobody says anything."""
    expected = _floats(given.seen.expected)
    if not np.isnan(expected).any():
        return expected
    expectation = Expectation(expected.tolist())
    filled = np.empty(len(expected))
    for job in given.arrivals.tolist():
        filled[job] = expectation.submitted(job)
    return filled


def standing_of(place: Floats) -> Ints:
    standing = np.empty(len(place), dtype=np.int64)
    standing[np.argsort(place, kind="stable")] = np.arange(len(place))
    return standing


def _in_turn(values: Floats | Ints) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))


def _floats(values: object) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)

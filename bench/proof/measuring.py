"""What is measured of one setting: every policy alone, and with SchedMate by every predictor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bench.proof.settings import WAITS, setting
from schedmate.core import FairnessLimits
from schedmate.simulator import Setting, TraceColumns, plan
from schedmate.simulator.estimators.controls import CONTROLS
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import PolicyRun, run

ALONE = "alone"
WITHOUT_CODE = ("constant", "last_two", "history", "qssf", "oracle")
"""Predictors that see no code, run for the first share only. (Two of them see the names of jobs,
which are drawn with the code; their accuracy hardly depends on the share.)"""
_USER_JOBS = 10
_SHORT_S = 60.0
"""A slowdown is of the run time or of this, whichever is longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One window of one cluster, and what is to be run in it."""

    site: str
    held_out: bool
    seed: int
    load: float
    jobs: int
    policies: tuple[str, ...]
    shares: tuple[float, ...]
    predictors: tuple[str, ...] = tuple(CONTROLS)
    bounds: tuple[tuple[float, float], ...] = ((24.0, 10.0),)
    """On being overtaken: hours, and times the predicted run time."""
    part: str = "+advisor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    site: str
    held_out: bool
    seed: int
    load: float
    gpus: int
    explained: float
    bound: tuple[float, float]
    policy: str
    predictor: str
    counts: bool
    """Whether jobs wait under the policy alone."""
    gain: float
    """Average completion time alone over with; 1 for the policy alone."""
    p99: float
    """The 99th percentile with over alone."""
    slowdown_gain: float
    slowdown_alone: float
    worst_user: float
    """The least gain of a user with ten jobs."""
    worst_job_h: float
    """By how much later at most a job ends."""


def measure_all(cases: Sequence[Case], *, workers: int) -> Iterator[dict[str, Any]]:
    """In whatever order they are done."""
    if workers == 1:
        for case in cases:
            yield from measured(case)
        return
    with ProcessPoolExecutor(workers) as pool:
        for rows in pool.map(measured, cases):
            yield from rows


def measured(case: Case) -> list[dict[str, Any]]:
    return [asdict(row) for row in _measured(case)]


def _measured(case: Case) -> Iterator[Measured]:
    for number, explained in enumerate(case.shares):
        here = _setting(case, explained, case.bounds[0])
        knowledge = Knowledge(here)
        for policy in case.policies:
            alone = run(here, plan(policy), knowledge)
            if number == 0:
                yield _row(case, here, explained, (policy, ALONE), (alone, alone))
            for predictor in case.predictors:
                if number and predictor in WITHOUT_CODE:
                    continue
                for bound in case.bounds:
                    bounded = _bounded(here, bound)
                    aided = run(bounded, plan(policy + case.part), knowledge, predictor=predictor)
                    names = policy, predictor
                    yield _row(case, bounded, explained, names, (alone, aided))


def _setting(case: Case, explained: float, bound: tuple[float, float]) -> Setting:
    drawn = setting(
        case.site,
        seed=case.seed,
        explained=explained,
        jobs=case.jobs,
        load=case.load,
    )
    return _bounded(drawn, bound)


def _bounded(drawn: Setting, bound: tuple[float, float]) -> Setting:
    return replace(drawn, fairness=FairnessLimits(hours=bound[0], times=bound[1]))


def _row(
    case: Case,
    here: Setting,
    explained: float,
    names: tuple[str, str],
    runs: tuple[PolicyRun, PolicyRun],
) -> Measured:
    """`names` are of the policy and the predictor, `runs` without and with SchedMate."""
    (policy, predictor), (alone, aided) = names, runs
    columns = here.columns
    before, after = (each.outcome.end - columns.submit for each in (alone, aided))
    ran = np.maximum(columns.duration, _SHORT_S)
    slow_before, slow_after = np.maximum(before / ran, 1.0), np.maximum(after / ran, 1.0)
    waited = before.mean() - columns.duration.mean()
    return Measured(
        site=case.site,
        held_out=case.held_out,
        seed=case.seed,
        load=case.load,
        gpus=here.gpus,
        explained=explained,
        bound=(here.fairness.hours, here.fairness.times),
        policy=policy,
        predictor=predictor,
        counts=bool(waited >= WAITS * columns.duration.mean()),
        gain=float(before.mean() / after.mean()),
        p99=float(np.quantile(after, 0.99) / np.quantile(before, 0.99)),
        slowdown_gain=float(slow_before.mean() / slow_after.mean()),
        slowdown_alone=float(before.mean() / columns.duration.mean()),
        worst_user=_worst_user(columns, before, after),
        worst_job_h=float((after - before).max() / 3600.0),
    )


def _worst_user(columns: TraceColumns, before: np.ndarray, after: np.ndarray) -> float:
    codes = columns.user.codes
    jobs = np.bincount(codes)
    totals = [np.bincount(codes, each, len(jobs)) for each in (before, after)]
    many = jobs >= _USER_JOBS
    return float((totals[0][many] / totals[1][many]).min()) if many.any() else 1.0


def geometric_mean(values: Iterable[float]) -> float:
    logs = np.log(list(values))
    return float(np.exp(logs.mean())) if len(logs) else float("nan")


def interval(by_seed: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean over seeds, in logarithms, by Student's t."""
    logs = np.log(by_seed)
    if len(logs) < 2:  # noqa: PLR2004 - one seed has no spread
        return float(np.exp(logs[0])), float(np.exp(logs[0]))
    off = _T95[min(len(logs) - 1, len(_T95)) - 1] * logs.std(ddof=1) / np.sqrt(len(logs))
    return float(np.exp(logs.mean() - off)), float(np.exp(logs.mean() + off))


_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)

"""What is measured of one setting: every policy alone, and with SchedMate by every predictor."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bench.proof.predictions import KeptKnowledge, revision
from bench.proof.settings import SHAKES, WAITS, Window, setting, shaken
from bench.proof.shadow import bound_beside
from bench.proof.tuning import best_of_grid
from schedmate.core import FairnessLimits
from schedmate.policies import POLICIES
from schedmate.simulator import Setting, TraceColumns, plan
from schedmate.simulator.engine.outcome import slowdowns
from schedmate.simulator.estimators.controls import CONTROLS
from schedmate.simulator.experiments.run import PolicyRun, run

ALONE = "alone"
WITHOUT_CODE = ("constant", "last_two", "history", "qssf", "oracle")
"""Predictors that see no code, run for one share only. (Two of them see the names of jobs, which
are drawn with the code; their accuracy hardly depends on the share.)"""
INSTEAD = {"easy": ("easy-sjbf", "easy-last-two", "easy-learnt")}
"""By policy: what the backfilling literature has in its place, without SchedMate."""
_USER_JOBS = 10
_HALF_A_DAY_S = 12 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A window, and what is to be run in it."""

    window: Window
    held_out: bool = False
    policies: tuple[str, ...]
    """A policy with a grid has the parameters that are best on these very jobs (tuning.py)."""
    parts: tuple[str, ...] = ("+advisor",)
    predictors: tuple[str, ...] = tuple(CONTROLS)
    bounds: tuple[FairnessLimits, ...] = (FairnessLimits(),)
    shakes: int = SHAKES
    instead: bool = False
    """Whether to run what the literature has instead of the policy, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    site: str
    held_out: bool
    seed: int
    load: float
    past: int
    gpus: int
    explained: float
    bound: tuple[float, float, float]
    """On being overtaken: hours late, hours waited, and times the predicted run time."""
    policy: str
    plan: str
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
    late: float
    """Share of jobs that end later by more than half a day."""
    late_by_chance: float
    """The same, of the policy alone in one shake against another."""
    error: float
    """Of the predictions: how far off (natural logarithm) on average."""
    revision: str
    """Of the source code that was run."""
    case: str
    """A digest of what was asked for, and of the revision."""


def measure_all(
    cases: Sequence[Case], *, workers: int, kept: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Those whose rows are in the file `kept` come first, of this revision and otherwise the same;
    the others' follow in their order and are added to it."""
    asked = {digest(case): case for case in cases}
    rows = [] if kept is None or not kept.exists() else _rows_of(kept)
    rows = [row for row in rows if row["case"] in asked]
    yield from rows
    done = {row["case"] for row in rows}
    left = [case for name, case in asked.items() if name not in done]
    with ProcessPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        for found in map(measured, left) if pool is None else pool.map(measured, left):
            if kept is not None:
                with kept.open("a", encoding="utf-8") as file:
                    file.write("".join(json.dumps(row) + "\n" for row in found))
            yield from found


def digest(case: Case) -> str:
    """Of all that its rows depend on."""
    return hashlib.sha256(f"{revision()} {case}".encode()).hexdigest()[:16]


def _rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measured(case: Case) -> list[dict[str, Any]]:
    return [asdict(row) for row in _measured(case)]


def _measured(case: Case) -> Iterator[Measured]:
    drawn = setting(case.window)
    knowledge = KeptKnowledge(drawn, case.window)
    shakes = [shaken(drawn, number) for number in range(case.shakes)]
    for policy in case.policies:
        tuned = plan(best_of_grid(drawn, policy, knowledge).policy)
        alone = [run(each, tuned, knowledge) for each in shakes]
        yield _row(case, drawn, (policy, policy, ALONE), (alone, alone))
        for other in INSTEAD.get(policy, ()) if case.instead else ():
            changed = [run(each, plan(other), knowledge) for each in shakes]
            yield _row(case, drawn, (policy, other, other), (alone, changed))
        for part, predictor, bound in product(case.parts, case.predictors, case.bounds):
            bounded = replace(drawn, fairness=bound)
            asked = plan(policy + part)
            aided = [
                run(
                    replace(each, fairness=bound_beside(bound, plainly)),
                    asked,
                    knowledge,
                    predictor=predictor,
                )
                for each, plainly in zip(shakes, alone, strict=True)
            ]
            row = _row(case, bounded, (policy, policy + part, predictor), (alone, aided))
            yield replace(row, error=_error(knowledge.of(predictor).p50, drawn.columns.duration))


def _row(
    case: Case,
    here: Setting,
    names: tuple[str, str, str],
    runs: tuple[Sequence[PolicyRun], Sequence[PolicyRun]],
) -> Measured:
    """`names` are of the policy, the plan and the predictor, `runs` without and with SchedMate."""
    policy, planned, predictor = names
    window, columns = case.window, here.columns
    before, after = (
        np.array([one.outcome.end - one.columns.submit for one in each]) for each in runs
    )
    slow_before, slow_after = (slowdowns(each, columns.duration) for each in (before, after))
    tails = [np.quantile(each, 0.99, axis=1).mean() for each in (before, after)]
    return Measured(
        site=window.site,
        held_out=case.held_out,
        seed=window.seed,
        load=window.load,
        past=window.past,
        gpus=here.gpus,
        explained=window.explained,
        bound=(here.fairness.late_hours, here.fairness.hours, here.fairness.times),
        policy=policy,
        plan=planned,
        predictor=predictor,
        counts=jobs_wait(policy, columns, before),
        gain=float(before.mean() / after.mean()),
        p99=float(tails[1] / tails[0]),
        slowdown_gain=float(slow_before.mean() / slow_after.mean()),
        slowdown_alone=float(before.mean() / columns.duration.mean()),
        worst_user=_worst_user(columns, before.mean(axis=0), after.mean(axis=0)),
        worst_job_h=float((after - before).max() / 3600.0),
        late=float((after - before > _HALF_A_DAY_S).mean()),
        late_by_chance=float((before - np.roll(before, 1, axis=0) > _HALF_A_DAY_S).mean()),
        error=float("nan"),
        revision=revision(),
        case=digest(case),
    )


def _error(predicted_s: np.ndarray, ran_s: np.ndarray) -> float:
    """Of the jobs of which something is predicted."""
    off = np.log1p(predicted_s) - np.log1p(ran_s)
    return float(np.nanmean(np.abs(off)))


def jobs_wait(policy: str, columns: TraceColumns, completion_s: np.ndarray) -> bool:
    """A policy that stretches jobs makes their run times itself: there all settings count."""
    if POLICIES[policy].orders_by == "goodput":
        return True
    ran = columns.duration.mean()
    return bool(completion_s.mean() - ran >= WAITS * ran)


def _worst_user(columns: TraceColumns, before: np.ndarray, after: np.ndarray) -> float:
    codes = columns.user.codes
    jobs = np.bincount(codes)
    totals = [np.bincount(codes, each, len(jobs)) for each in (before, after)]
    many = jobs >= _USER_JOBS
    return float((totals[0][many] / totals[1][many]).min()) if many.any() else 1.0


def geometric_mean(values: Iterable[float]) -> float:
    logs = np.log(list(values))
    return float(np.exp(logs.mean())) if len(logs) else float("nan")


def by_cluster(found: Iterable[tuple[str, float]]) -> list[float]:
    """The geometric mean of each cluster, of pairs of its name and a figure of one of its windows.

    Clusters are the sample: windows of one share users and in part jobs.
    """
    figures: dict[str, list[float]] = defaultdict(list)
    for name, figure in found:
        figures[name].append(figure)
    return [geometric_mean(each) for _, each in sorted(figures.items())]


def interval(clusters: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean over clusters, in logarithms, by Student's t; `nan` of one alone."""
    logs = np.log(clusters)
    if len(logs) < 2:  # noqa: PLR2004 - one has no spread
        return float("nan"), float("nan")
    off = _T95[min(len(logs) - 1, len(_T95)) - 1] * logs.std(ddof=1) / np.sqrt(len(logs))
    return float(np.exp(logs.mean() - off)), float(np.exp(logs.mean() + off))


_T95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)

"""The simulator beside what happened: its error in each arm, in one pair and in all together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.command import console, table
from bench.live import measures
from bench.live.arm import ArmResult
from bench.live.arms import ARMS, PLAIN
from bench.live.measures import Arm, Pair, jct, ran_s
from bench.live.replayed_jobs import ReplayedJob
from bench.live.simulated import Outcome, Shown, simulate

ORACLE = "oracle"
_STACK = "stack"
_SURE = 0.02
"""How far an oracle's range reaches to both sides."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Average completion times of a pair, by arm: what happened, and of each simulated run."""

    live: Mapping[str, float]
    simulated: Mapping[str, Sequence[float]]


def compare(pair: Pair, settings: Mapping[str, str], count: int) -> Compared:
    """Also prints every figure of the pair."""
    out = console()
    shown = table(
        "the simulator's slurm",
        ("arm", "JCT live, s", "simulated", "error", "first wait live, s", "simulated", "actions"),
    )
    averages: dict[str, list[float]] = {}
    chance: list[Outcome] = []
    for name, result in _with_oracle(pair):
        live = pair.arms.get(name)
        found = replicas(pair.jobs, result, what_was_shown(pair, result), settings, count)
        chance = chance or found
        averages[name] = [float(each.jct_s.mean()) for each in found]
        waits = [float(each.first_wait_s.mean()) for each in found]
        shown.add_row(name, *_row(live, averages[name], waits), _actions(found))
    measures.report(pair, settings, chance)
    out.print(shown)
    return Compared({name: float(jct(arm).mean()) for name, arm in pair.arms.items()}, averages)


def _row(live: Arm | None, averages: Sequence[float], waits: Sequence[float]) -> Iterator[str]:
    yield "" if live is None else f"{jct(live).mean():.1f}"
    yield f"{np.mean(averages):.1f} ± {np.std(averages):.1f}"
    yield "" if live is None else f"{np.mean(averages) / jct(live).mean() - 1:+.1%}"
    yield "" if live is None else f"{np.mean([each.first_wait_s for each in live]):.1f}"
    yield f"{np.mean(waits):.1f}"


def _actions(found: Sequence[Outcome]) -> str:
    kinds = ("requeue", "preempt", "cancel")
    counts = {kind: float(np.mean([each.actions.get(kind, 0) for each in found])) for kind in kinds}
    return ", ".join(f"{count:.1f} {kind}" for kind, count in counts.items() if count)


def _with_oracle(pair: Pair) -> Iterator[tuple[str, ArmResult]]:
    """The stack once more, by the true run times: what the same gates let be reached."""
    yield from pair.results.items()
    stack = pair.results.get(_STACK)
    if stack is not None:
        true = {job.number: job.first_s for job in pair.jobs}
        jobs = [
            replace(each, predicted=_around(true[each.number]), basis="same_code")
            for each in stack.jobs
            if each.number in true
        ]
        yield ORACLE, replace(stack, jobs=jobs)


def _around(seconds: float) -> tuple[float, float, float]:
    return (1 - _SURE) * seconds, seconds, (1 + _SURE) * seconds


def replicas(
    jobs: Sequence[ReplayedJob],
    arm: ArmResult,
    shown: Shown,
    settings: Mapping[str, str],
    count: int,
) -> list[Outcome]:
    """The same jobs several times, submitted up to a second later: one start that differs may
    change all that follows, in a real Slurm as well."""
    rng = random.Random(1)
    return [
        simulate(
            jobs,
            {each.number: each.submitted + rng.random() for each in arm.jobs},
            arm.config,
            shown=shown,
            schedmate=None if arm.arm == PLAIN else arm,
            settings=settings,
        )
        for _ in range(count)
    ]


def what_was_shown(pair: Pair, arm: ArmResult) -> Shown:
    """By the run of this arm."""
    runs = {
        each.number: [one for one in each.attempts if one.start is not None] for each in arm.jobs
    }
    alone = {
        job.number: ran_s(runs[job.number][0]) - job.first_s
        for job in pair.jobs
        if len(runs.get(job.number, ())) == 1 and job.fate != "doomed"
    }
    usual = Shown()
    return Shown(
        overhead_s=float(np.median(list(alone.values()))) if alone else 0.0,
        overheads=alone,
        poll_s=arm.cost.get("poll_s", usual.poll_s),
        reaction_s=reaction_s(pair.jobs, arm, usual.reaction_s),
        restart_s=arm.cost.get("restart_s", usual.restart_s),
    )


def reaction_s(jobs: Sequence[ReplayedJob], arm: ArmResult, usual_s: float) -> float:
    """From the end of a run that a fault broke to its requeue: the median."""
    faults = {job.number for job in jobs if job.fate == "fault"}
    taken = []
    for each in arm.jobs:
        for first, second in zip(each.attempts, each.attempts[1:], strict=False):
            same = first.job_id == second.job_id and first.state == "FAILED"
            if each.number in faults and same and first.end is not None:
                taken.append(second.submit - first.end)
    return float(np.median(taken)) if taken else usual_s


def report_all(found: Sequence[Compared]) -> None:
    """All pairs together: averages over pairs with their standard errors, and the mean of gains."""
    shown = table(
        f"{len(found)} pairs: average JCT with its standard error over pairs; times better than "
        "Slurm alone, geometric mean and of each pair",
        ("arm", "JCT live, s", "simulated", "error", "times better", "each", "simulated", "error"),
    )
    names = [*found[0].live, *(name for name in found[0].simulated if name not in found[0].live)]
    for name in names:
        title = ARMS[name].title if name in ARMS else f"{name} of the stack"
        shown.add_row(title, *_pooled(found, name))
    console().print(shown)


def _pooled(found: Sequence[Compared], name: str) -> Iterator[str]:
    simulated = [float(np.mean(each.simulated[name])) for each in found]
    alone = [float(np.mean(each.simulated[PLAIN])) for each in found]
    gain = _geometric(np.array(alone) / np.array(simulated))
    if name not in found[0].live:
        yield from ("", _with_error(simulated), "", "", "", f"{gain:.2f}", "")
        return
    live = [each.live[name] for each in found]
    gains = [each.live[PLAIN] / each.live[name] for each in found]
    yield from (_with_error(live), _with_error(simulated))
    yield f"{np.mean(simulated) / np.mean(live) - 1:+.1%}"
    yield f"{_geometric(gains):.2f}"
    yield ", ".join(f"{each:.2f}" for each in gains)
    yield f"{gain:.2f}"
    yield f"{gain / _geometric(gains) - 1:+.1%}"


def _geometric(values: Sequence[float] | np.ndarray) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _with_error(values: Sequence[float]) -> str:
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.1f}"

"""What came of the arms of the live experiment, job by job and in sum."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from bench.command import console, table
from bench.live.arm import DAEMON, ArmResult, Attempt, JobResult
from bench.live.replayed_jobs import GPUS, WASTED, ReplayedJob
from bench.live.simulated import Outcome, RunTimes, fairness_limits, simulate

_FEW = 3
_HEAD = ("Slurm", "Slurm + SchedMate", "times better")
_CONTROL = ("by history instead", "times better")


@dataclass(frozen=True, slots=True)
class Measured:
    """One job in one arm; seconds."""

    job: ReplayedJob
    jct_s: float
    wait_s: float
    """Held no GPU between its submission and its end, its owner's delays included."""
    first_wait_s: float
    wasted_gpu_s: float
    hung_gpu_s: float
    """Of what was wasted: held by runs that did nothing any more."""
    retries: int
    timed_out: bool


Arm = Sequence[Measured]


def measured(jobs: Sequence[ReplayedJob], arm: ArmResult) -> list[Measured]:
    """Of every job that has ended."""
    results = {each.number: each for each in arm.jobs}
    pairs = ((job, results.get(job.number)) for job in jobs)
    return [_measured(job, result) for job, result in pairs if result and _ended(result)]


def _ended(result: JobResult) -> bool:
    return any(each.end is not None for each in result.attempts)


def _measured(job: ReplayedJob, result: JobResult) -> Measured:
    runs = [each for each in result.attempts if each.start is not None and each.end is not None]
    ends = [each.end for each in result.attempts if each.end is not None]
    jct_s = max(ends) - result.submitted
    broken = runs if job.fate == "mistake" else runs[:-1]
    return Measured(
        job=job,
        jct_s=jct_s,
        wait_s=max(0.0, jct_s - sum(map(_ran_s, runs))),
        first_wait_s=max(0.0, (runs[0].start or 0.0) - result.submitted) if runs else jct_s,
        wasted_gpu_s=job.gpus * sum(map(_ran_s, broken)) if job.fate in WASTED else 0.0,
        hung_gpu_s=_hung_gpu_s(job, runs),
        retries=max(0, len(runs) - 1),
        timed_out=any(each.state == "TIMEOUT" for each in runs),
    )


def _hung_gpu_s(job: ReplayedJob, runs: Sequence[Attempt]) -> float:
    if job.fate != "hangs" or not runs:
        return 0.0
    return job.gpus * max(0.0, _ran_s(runs[0]) - job.breaks_at_s)


def _ran_s(attempt: Attempt) -> float:
    return 0.0 if attempt.start is None or attempt.end is None else attempt.end - attempt.start


def report(
    jobs: Sequence[ReplayedJob],
    results: Sequence[ArmResult],
    settings: Mapping[str, str],
    replicas: int,
) -> None:
    """Every figure of a pair, as tables; the simulator runs so many times. The results are of Slurm
    alone, with SchedMate, and with the control, if that was run."""
    plain, ours, *controls = results
    arms = [measured(jobs, each) for each in results]
    ended = set.intersection(*({each.job.number for each in arm} for arm in arms))
    base, mate, *others = ([each for each in arm if each.job.number in ended] for arm in arms)
    out = console()
    out.print(_sums([base, mate, *others], left_out=len(jobs) - len(ended)))
    out.print(_waits([base, mate, *others]))
    for arm in (ours, *controls):
        out.print(_predictions(arm, base))
    shown, chance = _simulated(base, mate, plain, ours, settings, replicas=replicas)
    out.print(shown)
    for line in (*_fairness(base, mate, ours, settings, chance), *_cost(ours)):
        out.print(line)
    if settings:
        out.print(f"settings of the daemon beyond {DAEMON}: {dict(settings)}")


def _sums(arms: Sequence[Arm], *, left_out: int) -> Table:
    title = f"{len(arms[0])} real jobs on {GPUS} GPUs ({left_out} without an end)"
    shown = table(title, ("", *_head(arms)))
    for name, figure in FIGURES.items():
        shown.add_row(name, *_cells([figure(arm) for arm in arms]))
    return shown


def _head(arms: Sequence[Arm]) -> tuple[str, ...]:
    return (*_HEAD, *_CONTROL) if len(arms) > 2 else _HEAD  # noqa: PLR2004 - without the control


def _cells(figures: Sequence[float]) -> Iterator[str]:
    """Of Slurm alone, then of each other arm, with how many times better that is."""
    first, *others = figures
    yield f"{first:,.1f}"
    for other in others:
        yield f"{other:,.1f}"
        yield _times(first, other)


def _times(first: float, second: float) -> str:
    return f"{first / second:.2f}" if second else "-"


def _jct(arm: Arm) -> np.ndarray:
    return np.array([each.jct_s for each in arm])


def _wasted(arm: Arm, *fates: str) -> float:
    return sum(each.wasted_gpu_s for each in arm if each.job.fate in fates)


FIGURES: dict[str, Callable[[Arm], float]] = {
    "average JCT, s": lambda arm: float(_jct(arm).mean()),
    "median JCT, s": lambda arm: float(np.median(_jct(arm))),
    "p99 JCT, s": lambda arm: float(np.percentile(_jct(arm), 99)),
    "longest JCT, s": lambda arm: float(_jct(arm).max()),
    "average wait, s": lambda arm: float(np.mean([each.wait_s for each in arm])),
    "wasted GPU time, s": lambda arm: _wasted(arm, *WASTED),
    "- by mistakes of their own": lambda arm: _wasted(arm, "mistake"),
    "- by faults of the machine": lambda arm: _wasted(arm, "fault"),
    "- by hangs": lambda arm: _wasted(arm, "hangs"),
    "- of it while hung: avoidable": lambda arm: sum(each.hung_gpu_s for each in arm),
    "retries": lambda arm: float(sum(each.retries for each in arm)),
    "killed by a limit": lambda arm: float(sum(each.timed_out for each in arm)),
}


def _waits(arms: Sequence[Arm]) -> Table:
    shown = table("average wait, s", ("jobs", "number", *_head(arms)))
    keys: dict[str, Callable[[ReplayedJob], object]] = {
        "GPUs": lambda job: job.gpus,
        "user": lambda job: job.user,
    }
    for name, key in keys.items():
        waits: dict[object, list[list[float]]] = defaultdict(lambda: [[] for _ in arms])
        for place, arm in enumerate(arms):
            for each in arm:
                waits[key(each.job)][place].append(each.wait_s)
        rows = sorted(waits.items(), key=lambda pair: (-len(pair[1][0]), str(pair[0])))
        for value, of_arms in rows:
            means = [float(np.mean(each)) for each in of_arms]
            shown.add_row(f"{name} {value}", str(len(of_arms[0])), *_cells(means))
    return shown


def _predictions(ours: ArmResult, base: Arm) -> Table:
    """How far predictions were from how long the first runs last by themselves."""
    truth = {each.job.number: each.job.first_s for each in base}
    shown = table(
        f"predicted run times, arm {ours.arm}",
        ("basis", "jobs", "off by (median)", "log variance explained"),
    )
    pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in ours.jobs:
        if each.predicted is not None and each.number in truth:
            for basis in (each.basis, "all"):
                pairs[basis].append((each.predicted[1], truth[each.number]))
    for basis, found in sorted(pairs.items()):
        logs = np.log(np.maximum(np.array(found), 0.1))
        off = math.exp(float(np.median(np.abs(logs[:, 0] - logs[:, 1]))))
        shown.add_row(basis, str(len(found)), f"{off:.2f}x", _explained(logs))
    shown.add_row("none", str(sum(each.predicted is None for each in ours.jobs)), "", "")
    return shown


def _explained(logs: np.ndarray) -> str:
    if len(logs) < _FEW or not logs.std(axis=0).all():
        return "-"
    return f"{float(np.corrcoef(logs.T)[0, 1]) ** 2:.2f}"


def overhead_s(base: Arm, plain: ArmResult) -> float:
    """How much longer than its steps a run lasts: the median of jobs that ran once to their end."""
    runs = {each.number: each.attempts for each in plain.jobs}
    sound = [each.job for each in base if each.job.fate == "completes" and not each.retries]
    return float(np.median([_ran_s(runs[job.number][0]) - job.first_s for job in sound]))


def reaction_s(jobs: Sequence[ReplayedJob], ours: ArmResult) -> float:
    """From the end of a run that a fault broke to its requeue: the median."""
    faults = {job.number for job in jobs if job.fate == "fault"}
    pairs = [each.attempts[:2] for each in ours.jobs if each.number in faults]
    again = [pair for pair in pairs if len(pair) > 1 and pair[0].job_id == pair[1].job_id]
    taken = [second.submit - first.end for first, second in again if first.end is not None]
    return float(np.median(taken)) if taken else 4.0


def _simulated(
    base: Arm,
    mate: Arm,
    plain: ArmResult,
    ours: ArmResult,
    settings: Mapping[str, str],
    *,
    replicas: int,
) -> tuple[Table, list[Outcome]]:
    """The same jobs in the simulator, and how far it is from what happened; and the replicas
    without SchedMate."""
    extra_s, back_s = overhead_s(base, plain), reaction_s([each.job for each in base], ours)
    jobs = [each.job for each in base]
    shown = table(
        f"the simulator's slurm (runs {extra_s:.2f} s longer than their steps, "
        f"requeues {back_s:.1f} s after a failure)",
        ("", "live", "simulated", "error", "with measured run times", "error"),
    )
    arms = {"Slurm": (base, plain), "Slurm + SchedMate": (mate, ours)}
    averages, chance = [], list[Outcome]()
    for name, (arm, result) in arms.items():
        found = [
            _replicas(jobs, result, RunTimes(extra_s, known), back_s, settings, count=replicas)
            for known in ({}, _run_times(result))
        ]
        chance = chance or found[0]
        live = _jct(arm)
        for figure, of in _COMPARED.items():
            values = [[of(each.jct_s) for each in replicas] for replicas in found]
            _add(shown, f"{name}: {figure}", of(live), values)
        waits = float(np.mean([each.first_wait_s for each in arm]))
        waited = [[float(each.first_wait_s.mean()) for each in replicas] for replicas in found]
        _add(shown, f"{name}: average first wait, s", waits, waited)
        means = [np.array([each.jct_s.mean() for each in replicas]) for replicas in found]
        averages.append([np.array([live.mean()]), *means])
    gain, *gains = (first / second for first, second in zip(*averages, strict=True))
    _add(shown, "times better", float(gain[0]), [each.tolist() for each in gains])
    return shown, chance


_COMPARED: dict[str, Callable[[np.ndarray], float]] = {
    "average JCT, s": lambda jct: float(jct.mean()),
    "median JCT, s": lambda jct: float(np.median(jct)),
    "p99 JCT, s": lambda jct: float(np.percentile(jct, 99)),
}


def _run_times(arm: ArmResult) -> dict[int, list[float]]:
    runs = {each.number: [one for one in each.attempts if one.start] for each in arm.jobs}
    return {number: [_ran_s(one) for one in each] for number, each in runs.items() if each}


def _replicas(
    jobs: Sequence[ReplayedJob],
    arm: ArmResult,
    times: RunTimes,
    back_s: float,
    settings: Mapping[str, str],
    *,
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
            times=times,
            reaction_s=back_s,
            schedmate=None if arm.arm == "plain" else arm,
            settings=settings,
        )
        for _ in range(count)
    ]


def _add(shown: Table, name: str, live: float, simulated: Sequence[Sequence[float]]) -> None:
    cells = []
    for values in simulated:
        mean = float(np.mean(values))
        cells.append(f"{mean:,.2f} ± {np.std(values):,.2f}")
        cells.append(f"{100 * (mean / live - 1):+.1f} %")
    shown.add_row(name, f"{live:,.2f}", *cells)


def _fairness(
    base: Arm, mate: Arm, ours: ArmResult, settings: Mapping[str, str], chance: Sequence[Outcome]
) -> Iterator[str]:
    before = {each.job.number: each.first_wait_s for each in base}
    after = {each.job.number: each.first_wait_s for each in mate}
    bounds = _bounds(ours, settings)
    longer = np.array([after[number] - before[number] for number in after])
    yield (
        f"first waits that became longer by more than 5 s: {int((longer > 5).sum())}, "  # noqa: PLR2004
        f"at most by {longer.max():.0f} s; 99 % by less than {np.percentile(longer, 99):.0f} s"
    )
    limits = fairness_limits(settings)
    replicas = [dict(zip(each.numbers, each.first_wait_s.tolist(), strict=True)) for each in chance]
    by_chance = [
        beyond(one, other, bounds) for one in replicas for other in replicas if one is not other
    ]
    yield (
        f"longer by more than the bound on being overtaken ({limits.late_hours:.3g} h, and the "
        f"longer of {limits.hours:.3g} h and {limits.times:g} times the prediction): "
        f"{beyond(before, after, bounds)} with SchedMate, "
        f"{beyond(after, before, bounds)} without; of two simulated runs without it "
        f"{np.mean(by_chance):.1f} ({min(by_chance)} to {max(by_chance)})"
    )
    fates = Counter(each.job.fate for each in mate)
    yield "fates: " + ", ".join(f"{count} {fate}" for fate, count in fates.most_common())


def _bounds(ours: ArmResult, settings: Mapping[str, str]) -> dict[int, float]:
    limits = fairness_limits(settings)
    return {
        each.number: max(
            3600 * max(limits.late_hours, limits.hours),
            limits.times * (each.predicted or (0, 0, 0))[2],
        )
        for each in ours.jobs
    }


def beyond(
    first: Mapping[int, float], second: Mapping[int, float], bounds: Mapping[int, float]
) -> int:
    """How many jobs waited longer in the second of two runs by more than their bounds."""
    return sum(second[number] - first[number] > bounds[number] for number in first)


def _cost(ours: ArmResult) -> Iterator[str]:
    cost = ours.cost
    actions = ", ".join(f"{count} {kind}" for kind, count in sorted(ours.actions.items()))
    yield (
        f"the daemon: {cost['cpu_s']:.0f} s of CPU time in {cost['seconds']:.0f} s, "
        f"{cost['peak_mb']:.0f} MB at most; {actions}"
    )
    placed = [each.placed_s for each in ours.jobs if each.placed_s is not None]
    middle, most = np.percentile(placed, [50, 99]) if placed else (math.nan, math.nan)
    yield (
        f"from submission to the nice number by its prediction: {middle:.1f} s in the median, "
        f"{most:.1f} s at the 99th percentile of {len(placed)} jobs"
    )
    asked = {name: round(count) for name, count in cost.items() if name.startswith("REQUEST")}
    yield f"asked of slurmctld, the owners' own looks included: {asked}"

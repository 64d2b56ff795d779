"""What came of the arms of the live experiment, job by job and in sum."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from bench.command import console, table
from bench.live.arm import ArmResult, Attempt, JobResult
from bench.live.arms import ARMS, DAEMON, PLAIN
from bench.live.replayed_jobs import GPUS, WASTED, ReplayedJob
from bench.live.simulated import Outcome, fairness_limits

_FEW = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """One job in one arm; seconds."""

    job: ReplayedJob
    jct_s: float
    wait_s: float
    """Held no GPU between its submission and its end, its owner's delays included."""
    first_wait_s: float
    ran_s: float
    """All its runs together."""
    wasted_gpu_s: float
    hung_gpu_s: float
    """Of what was wasted: held by runs that did nothing any more."""
    retries: int
    timed_out: bool


Arm = Sequence[Measured]


@dataclass(frozen=True, slots=True)
class Pair:
    """One run of all arms, Slurm alone first: the jobs that ended in all of them."""

    jobs: Sequence[ReplayedJob]
    results: Mapping[str, ArmResult]
    arms: Mapping[str, Arm]
    left_out: int = 0

    @classmethod
    def of(cls, jobs: Sequence[ReplayedJob], results: Sequence[ArmResult]) -> Pair:
        arms = {each.arm: measured(jobs, each) for each in results}
        ended = set.intersection(*({each.job.number for each in arm} for arm in arms.values()))
        kept = {
            name: [each for each in arm if each.job.number in ended] for name, arm in arms.items()
        }
        here = [job for job in jobs if job.number in ended]
        return cls(here, {each.arm: each for each in results}, kept, len(jobs) - len(here))


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
    held_s = sum(map(ran_s, runs))
    return Measured(
        job=job,
        jct_s=jct_s,
        wait_s=max(0.0, jct_s - held_s),
        first_wait_s=max(0.0, (runs[0].start or 0.0) - result.submitted) if runs else jct_s,
        ran_s=held_s,
        wasted_gpu_s=job.gpus * _wasted_s(job, runs) if job.fate in WASTED else 0.0,
        hung_gpu_s=_hung_gpu_s(job, runs),
        retries=max(0, len(runs) - 1),
        timed_out=any(each.state == "TIMEOUT" for each in runs),
    )


def _wasted_s(job: ReplayedJob, runs: Sequence[Attempt]) -> float:
    """Of a mistake or a doomed job all, of one that was run again what did not get it further."""
    held_s = sum(map(ran_s, runs))
    if job.fate in ("mistake", "doomed"):
        return held_s
    return max(0.0, held_s - job.sound_s) if job.resumes else sum(map(ran_s, runs[:-1]))


def _hung_gpu_s(job: ReplayedJob, runs: Sequence[Attempt]) -> float:
    if job.fate != "hangs" or not runs:
        return 0.0
    return job.gpus * max(0.0, ran_s(runs[0]) - job.breaks_at_s)


def ran_s(attempt: Attempt) -> float:
    return 0.0 if attempt.start is None or attempt.end is None else attempt.end - attempt.start


def report(pair: Pair, settings: Mapping[str, str], chance: Sequence[Outcome]) -> None:
    """Every figure of a pair, as tables; `chance` are simulated runs of Slurm alone."""
    out = console()
    out.print(_sums(pair))
    out.print(_waits(pair))
    for name, arm in pair.results.items():
        if name != PLAIN:
            out.print(_predictions(arm, pair.arms[PLAIN]))
    for line in (*_fairness(pair, settings, chance), *_shares(pair)):
        out.print(line)
    for name in pair.results:
        for line in _cost(pair.results[name]):
            out.print(f"{name}: {line}")
    if settings:
        out.print(f"settings of the daemon beyond {DAEMON}: {dict(settings)}")


def _sums(pair: Pair) -> Table:
    title = (
        f"{len(pair.jobs)} real jobs on {GPUS} GPUs ({pair.left_out} without an end); in brackets "
        "how many times better than Slurm alone"
    )
    shown = table(title, ("", *(ARMS[name].title for name in pair.arms)))
    for name, figure in FIGURES.items():
        shown.add_row(name, *_cells([figure(arm) for arm in pair.arms.values()]))
    return shown


def _cells(figures: Sequence[float]) -> Iterator[str]:
    """Of Slurm alone, then of each other arm, with how many times better that is."""
    first, *others = figures
    yield f"{first:,.1f}"
    for other in others:
        yield f"{other:,.1f} ({first / other:.2f})" if first and other else f"{other:,.1f}"


def jct(arm: Arm) -> np.ndarray:
    return np.array([each.jct_s for each in arm])


def _wasted(arm: Arm, *fates: str) -> float:
    return sum(each.wasted_gpu_s for each in arm if each.job.fate in fates)


FIGURES: dict[str, Callable[[Arm], float]] = {
    "average JCT, s": lambda arm: float(jct(arm).mean()),
    "median JCT, s": lambda arm: float(np.median(jct(arm))),
    "p99 JCT, s": lambda arm: float(np.percentile(jct(arm), 99)),
    "longest JCT, s": lambda arm: float(jct(arm).max()),
    "average wait, s": lambda arm: float(np.mean([each.wait_s for each in arm])),
    "GPU time held, s": lambda arm: sum(each.job.gpus * each.ran_s for each in arm),
    "wasted GPU time, s": lambda arm: _wasted(arm, *WASTED),
    "- by mistakes of their own": lambda arm: _wasted(arm, "mistake"),
    "- by doomed runs": lambda arm: _wasted(arm, "doomed"),
    "- by faults of the machine": lambda arm: _wasted(arm, "fault"),
    "- by hangs": lambda arm: _wasted(arm, "hangs"),
    "- of it while hung: avoidable": lambda arm: sum(each.hung_gpu_s for each in arm),
    "runs beyond the first": lambda arm: float(sum(each.retries for each in arm)),
    "killed by a limit": lambda arm: float(sum(each.timed_out for each in arm)),
}


def _waits(pair: Pair) -> Table:
    heads = ("jobs", "number", *(ARMS[name].title for name in pair.arms))
    shown = table("average wait, s", heads)
    for gpus, count in sorted(Counter(job.gpus for job in pair.jobs).items()):
        waits = [
            float(np.mean([each.wait_s for each in arm if each.job.gpus == gpus]))
            for arm in pair.arms.values()
        ]
        shown.add_row(f"{gpus} GPUs", str(count), *_cells(waits))
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


def _fairness(pair: Pair, settings: Mapping[str, str], chance: Sequence[Outcome]) -> Iterator[str]:
    """Against the plain run, arm by arm; and between two simulated plain runs."""
    before = _first_waits(pair.arms[PLAIN])
    limits = fairness_limits(settings)
    by_chance = []
    for name, arm in pair.arms.items():
        if name == PLAIN:
            continue
        after, bounds = _first_waits(arm), _bounds(pair.results[name], settings)
        replicas = [_waits_of(each) for each in chance]
        by_chance = [
            beyond(one, other, bounds) for one in replicas for other in replicas if one is not other
        ]
        longer = np.array([after[number] - before[number] for number in after])
        yield (
            f"{name}: first waits longer than in the plain run by more than the bound on being "
            f"overtaken ({limits.late_hours:.3g} h): {beyond(before, after, bounds)}, "
            f"{beyond(after, before, bounds)} the other way; 99 % longer by less than "
            f"{np.percentile(longer, 99):.0f} s, at most {longer.max():.0f} s"
        )
    if by_chance:
        yield (
            f"the same between two simulated plain runs: {np.mean(by_chance):.1f} "
            f"({min(by_chance)} to {max(by_chance)})"
        )


def _shares(pair: Pair) -> Iterator[str]:
    fates = Counter(job.fate for job in pair.jobs)
    yield "fates: " + ", ".join(f"{count} {fate}" for fate, count in fates.most_common())
    times = {job.number: job.gpus * job.first_s for job in pair.jobs}
    kinds = {
        "resume": [job for job in pair.jobs if job.resumes],
        "are doomed": [job for job in pair.jobs if job.fate == "doomed"],
    }
    for what, these in kinds.items():
        held = sum(times[job.number] for job in these) / sum(times.values())
        yield f"{len(these) / len(pair.jobs):.1%} of the jobs, {held:.1%} of GPU time, {what}"


def _waits_of(outcome: Outcome) -> dict[int, float]:
    return dict(zip(outcome.numbers, outcome.first_wait_s.tolist(), strict=True))


def _first_waits(arm: Arm) -> dict[int, float]:
    return {each.job.number: each.first_wait_s for each in arm}


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


def _cost(arm: ArmResult) -> Iterator[str]:
    cost = arm.cost
    if arm.actions:
        actions = ", ".join(f"{count} {kind}" for kind, count in sorted(arm.actions.items()))
        yield (
            f"the daemon: {cost['cpu_s']:.0f} s of CPU time in {cost['seconds']:.0f} s, "
            f"{cost['peak_mb']:.0f} MB at most, a poll every {cost['poll_s']:.2f} s in the median "
            f"(90th percentile {cost['slow_poll_s']:.2f}); {actions}"
        )
        placed = [each.placed_s for each in arm.jobs if each.placed_s is not None]
        middle, most = np.percentile(placed, [50, 99]) if placed else (math.nan, math.nan)
        yield (
            f"from submission to the nice number by its prediction: {middle:.1f} s in the median, "
            f"{most:.1f} s at the 99th percentile of {len(placed)} jobs"
        )
    asked = {name: round(count) for name, count in cost.items() if name.startswith("REQUEST")}
    yield (
        f"slurmctld's mean cycle {cost.get('slurmctld_cycle_ms', math.nan):.1f} ms; load average "
        f"of the machine {cost.get('load', math.nan):.1f}, {cost.get('most_load', math.nan):.1f} "
        f"at most; asked, the owners' own polls included: {asked}"
    )

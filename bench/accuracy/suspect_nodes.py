"""How soon sick nodes are found, and how often healthy ones are accused.

    python -m bench.accuracy.suspect_nodes             # thirty days, three times
    python -m bench.accuracy.suspect_nodes --days 12   # fewer

Real node faults (infinitehbd_fault_trace, see bench/README.md; invented ones where it is not here)
are laid over a simulated busy cluster whose users also fail by themselves. Every method sees the
same ended jobs and is asked every six hours.
"""

# ruff: noqa: PLR2004 - the shares are those of an invented cluster
from __future__ import annotations

import gzip
import heapq
import json
import random
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.command import command_line
from bench.datasets import data_dir
from schedmate.handler.suspects import HARDWARE_LIKE, suspicions
from schedmate.model import JobState, NodeRun

DAY, HOUR = 86400.0, 3600.0
NODES = 200
USERS, BUGGY_USERS = 40, 6
WARM_UP_DAYS = 10
ASK_EVERY_S = 6 * HOUR
STRETCHES = (30, 130, 230)
"""Days of the trace at which a simulated stretch begins."""
FORGIVEN_S = DAY
"""An alarm so long after the end of a fault still counts as right."""
SHORTEST_S = 2 * HOUR
Method = Callable[[Sequence[NodeRun], float], set[str]]


@dataclass(frozen=True, slots=True)
class Fault:
    node: str
    start: float
    end: float
    kind: str


def real_faults() -> list[Fault] | None:
    path = data_dir() / "failures" / "infinitehbd_fault_trace.json.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = sorted(json.load(file), key=lambda event: event["event_time"])
    begun: dict[tuple[str, str], float] = {}
    found = []
    for event in events:
        kind, node, at = event["fault_type"]["Class"], event["node_id"], event["event_time"] * DAY
        if event["event_type"] == "fault_start":
            begun[node, kind] = at
        elif (node, kind) in begun:
            found.append(Fault(node, begun.pop((node, kind)), at, kind))
    return found


def invented_faults(seed: int = 0) -> list[Fault]:
    rng = random.Random(seed)
    kinds = ("GPU", "NIC", "Unknown Error", "Power Supply")
    starts = [rng.uniform(0, 349 * DAY) for _ in range(584)]
    return [
        Fault(f"n{rng.randrange(400)}", at, at + rng.expovariate(1 / DAY), rng.choice(kinds))
        for at in starts
    ]


def faults_of(stretch: int, days: int, faults: Iterable[Fault]) -> list[Fault]:
    """Those of the stretch on a cluster of `NODES`, half of which never have one."""
    names = sorted({fault.node for fault in faults})[: NODES // 2]
    renamed = {name: f"gpu{number:03}" for number, name in enumerate(names)}
    begin, end = stretch * DAY, (stretch + days) * DAY
    return [
        Fault(renamed[one.node], max(0.0, one.start - begin), one.end - begin, one.kind)
        for one in faults
        if one.node in renamed and one.end > begin and one.start < end
    ]


def evidence(fault: Fault, nodes: tuple[str, ...], rng: random.Random) -> tuple[str, bool]:
    """How a fault shows in the diagnosis, and whether it names its node."""
    alone = len(nodes) == 1
    hidden = "cuda_error" if alone else rng.choice(["nccl_timeout", "nccl_remote", "hang"])
    if fault.kind == "GPU" and rng.random() < 0.5:
        return rng.choice(["gpu_ecc", "gpu_lost", "gpu_hardware"]), rng.random() < 0.7
    if fault.kind in ("NIC", "Parameter Plane Cable"):
        return rng.choice(["nccl_timeout", "nccl_remote", "network"]), False
    if fault.kind in ("Power Supply", "Fan", "Motherboard", "System Crash"):
        return "node_failure", rng.random() < 0.5
    return rng.choice([hidden, hidden, "segfault", "node_failure"]), False


def own_failure(user: int, rng: random.Random) -> str:
    """What users do to themselves; half a dozen of them have code that hangs its collectives."""
    at = rng.random()
    if user < BUGGY_USERS and at < 0.12:
        return rng.choice(["nccl_timeout", "hang", "nccl_remote"])
    doubtful = ("nccl_timeout", "cuda_error", "segfault", "hang", "killed", "storage_io")
    if at < 0.03:
        return rng.choice(doubtful)
    return rng.choice(["import_error", "gpu_oom", "key_error"]) if at < 0.2 else ""


def struck(
    nodes: tuple[str, ...],
    span: tuple[float, float],
    faults: dict[str, list[Fault]],
    rng: random.Random,
) -> tuple[float, Fault] | None:
    """The first fault that ends a run, if any; sick nodes fail now and then, some at once."""
    start, end = span
    hits = []
    for node in nodes:
        for fault in faults.get(node, ()):
            begin, until = max(start, fault.start), min(end, fault.end)
            if begin < until:
                after = 60.0 if rng.random() < 0.2 else rng.expovariate(1 / (6 * HOUR))
                hits += [(begin + after, fault)] if begin + after < until else []
    return min(hits, key=lambda hit: hit[0], default=None)


def simulate(faults: Sequence[Fault], days: int, seed: int) -> list[NodeRun]:
    """A cluster that is always full, its jobs in the order of their ends."""
    rng = random.Random(seed)
    by_node: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        by_node[fault.node].append(fault)
    free = [(rng.uniform(0, HOUR), f"gpu{number:03}") for number in range(NODES)]
    heapq.heapify(free)
    runs: list[NodeRun] = []
    while free[0][0] < days * DAY:
        size = rng.choices((1, 2, 4, 8), (70, 15, 10, 5))[0]
        taken = [heapq.heappop(free) for _ in range(size)]
        nodes, start = tuple(node for _, node in taken), max(at for at, _ in taken)
        run = one_run(len(runs), nodes, start, by_node, rng)
        runs.append(run)
        for node in nodes:
            heapq.heappush(free, (run.ended_at + rng.uniform(0, 600), node))
    return sorted(runs, key=lambda run: run.ended_at)


def one_run(
    number: int,
    nodes: tuple[str, ...],
    start: float,
    faults: dict[str, list[Fault]],
    rng: random.Random,
) -> NodeRun:
    user = rng.randrange(USERS)
    end = start + min(rng.lognormvariate(8.9, 1.2), 2 * DAY)
    reason = own_failure(user, rng)
    blamed: tuple[str, ...] = ()
    if reason:
        end = start + (end - start) * rng.random()
    hit = struck(nodes, (start, end), faults, rng)
    if hit is not None:
        end = hit[0]
        reason, named = evidence(hit[1], nodes, rng)
        blamed = (hit[1].node,) if named else ()
    return NodeRun(
        job_id=str(number),
        user=f"user{user}",
        nodes=nodes,
        state=_state(reason, lost=hit is not None),
        gpus=len(nodes) * (8 if len(nodes) > 1 else rng.choice((1, 4, 8, 8))),
        started_at=start,
        ended_at=end,
        reason=reason,
        confidence=0.9 if reason else 0.0,
        blamed=blamed,
    )


def _state(reason: str, *, lost: bool) -> JobState:
    """A scheduler notices a node that went away, and nothing else."""
    if lost and reason == "node_failure":
        return JobState.NODE_FAIL
    return JobState.FAILED if reason else JobState.COMPLETED


def ours(runs: Sequence[NodeRun], now: float) -> set[str]:
    return {node for node, one in suspicions(runs, now).items() if one.suspect}


def counting(least: int, hours: float, *, hardware: bool = False, users: bool = False) -> Method:
    """So many failures in so many hours, which is what sites write into a cron job."""

    def flagged(runs: Sequence[NodeRun], now: float) -> set[str]:
        seen: dict[str, list[str]] = defaultdict(list)
        first = bisect_right(runs, now - hours * HOUR, key=lambda run: run.ended_at)
        for run in runs[first:]:
            if run.state.failed and (not hardware or run.reason in HARDWARE_LIKE):
                for node in run.blamed or run.nodes:
                    seen[node].append(run.user)
        return {n for n, who in seen.items() if len(set(who) if users else who) >= least}

    return flagged


METHODS: dict[str, Method] = {
    "SchedMate": ours,
    "3 failures in 24 h": counting(3, 24),
    "3 hardware-like in 24 h": counting(3, 24, hardware=True),
    "2 hardware-like in 24 h": counting(2, 24, hardware=True),
    "2 users, hardware-like, 72 h": counting(2, 72, hardware=True, users=True),
    "3 users, hardware-like, 72 h": counting(3, 72, hardware=True, users=True),
}


@dataclass(slots=True)
class Score:
    alarms: int = 0
    right: int = 0
    sick: int = 0
    found: int = 0
    flagged_s: float = 0.0
    wrongly_s: float = 0.0
    seconds: float = 0.0
    delays: list[float] = field(default_factory=list)


def judge(method: Method, runs: Sequence[NodeRun], faults: Sequence[Fault], days: int) -> Score:
    score = Score()
    before: set[str] = set()
    first: dict[int, float] = {}
    now = WARM_UP_DAYS * DAY
    while now < days * DAY:
        ended = runs[: bisect_right(runs, now, key=lambda run: run.ended_at)]
        started = time.perf_counter()
        flagged = method(ended, now)
        score.seconds += time.perf_counter() - started
        sick = {one.node for one in faults if one.start <= now <= one.end + FORGIVEN_S}
        score.alarms += len(flagged - before)
        score.right += len((flagged - before) & sick)
        score.flagged_s += ASK_EVERY_S * len(flagged)
        score.wrongly_s += ASK_EVERY_S * len(flagged - sick)
        for index, fault in enumerate(faults):
            if fault.node in flagged and fault.start <= now <= fault.end + FORGIVEN_S:
                first.setdefault(index, now - fault.start)
        before, now = flagged, now + ASK_EVERY_S
    for index, fault in enumerate(faults):
        if _counts(fault, runs, days):
            score.sick += 1
            score.found += index in first
            score.delays += [first[index]] if index in first else []
    return score


def _counts(fault: Fault, runs: Sequence[NodeRun], days: int) -> bool:
    """Faults that can be found: long enough, in the time judged, and some job failed by them."""
    if fault.end - fault.start < SHORTEST_S or not WARM_UP_DAYS * DAY <= fault.start < days * DAY:
        return False
    return any(
        fault.start <= run.ended_at <= fault.end
        and fault.node in run.nodes
        and run.reason in HARDWARE_LIKE
        for run in runs
    )


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--days", type=int, default=30, help="of which the first ten warm up")
    days = parser.parse_args().days
    faults = real_faults()
    print("faults: infinitehbd" if faults else "faults: invented, the trace is not here")
    faults = faults or invented_faults()
    total = {name: Score() for name in METHODS}
    jobs = failed = 0
    for stretch in STRETCHES:
        here = faults_of(stretch, days, faults)
        runs = simulate(here, days, seed=stretch)
        jobs += len(runs)
        failed += sum(run.reason in HARDWARE_LIKE for run in runs)
        for name, method in METHODS.items():
            _add(total[name], judge(method, runs, here, days))
    print(f"{len(STRETCHES)} x {days} days, {NODES} nodes, {jobs:,} jobs, {failed:,} hardware-like")
    print(f"{'':30} {'alarms':>7} {'right':>6} {'found':>9} {'after':>8} {'node-days wrong':>16}")
    for name, score in total.items():
        print(
            f"{name:30} {score.alarms:7} {score.right / max(1, score.alarms):6.0%} "
            f"{f'{score.found}/{score.sick}':>9} {median(score.delays or [0]) / HOUR:6.1f} h "
            f"{score.wrongly_s / DAY:16.0f}   ({score.seconds:.1f} s)"
        )


def _add(total: Score, one: Score) -> None:
    for part in ("alarms", "right", "sick", "found", "flagged_s", "wrongly_s", "seconds"):
        setattr(total, part, getattr(total, part) + getattr(one, part))
    total.delays += one.delays


if __name__ == "__main__":
    main()

"""What each lever beside the order of the queue is worth, with its controls.

    python -m bench.proof.levers                          # 45 settings, an hour of two cores
    python -m bench.proof.levers --settings 9 --levers all  # a trial
    python -m bench.proof.levers --shares measured        # the shares that were found in public
    python -m bench.proof.levers --sites theta --seeds 2 --widest 1   # wide runs are stopped, too
    python -m bench.proof.levers --held-out               # the other clusters, to be read once
    python -m bench.proof.levers --by-load --loads 0.6,0.9,1.25   # gain over wait/run, a figure

`order` is SchedMate beside the scheduler with nice numbers alone. `requeue` also stops runs right
after a checkpoint, `sharing` lets jobs share GPUs, `stopping` ends doomed runs at their first sure
sign, `all` does all of it. Shares of jobs: 60 % resume, 20 % may share, 5 % are doomed and half of
their run is saved; `--shares measured`: 6.5 %, 10 % and 5 % (docs/explanation/shares.md). Gates are
those of a daemon: that a code resumes, or what it needs of a GPU, is known only after one of its
runs has shown it; a restart costs 120 s, and 120 s until it may start.

Each lever by other predictors and moments: `constant`, `permuted`, `history`, `las` (no prediction
at all: least attained service), `blind` (runs are stopped at any moment, and lose what they did
since their checkpoint), `oracle` (the true run times, same gates). Gain is the average completion
time of the policy alone over that with the lever, geometric mean over clusters; `of oracle` the
gain over that of the lever's own oracle; p99 with over alone; the worst setting and how many lose
(below 0.98); the share of jobs that end more than 12 h later than alone, and how many do so between
two shaken runs of the policy alone; GPU time held, with over alone.
Settings and their rules: bench/proof/settings.py, each with one shake here.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.command import command_line, machine, progress
from bench.proof.drawing import Line, Mark, figure
from bench.proof.measuring import by_cluster, geometric_mean, interval, jobs_wait
from bench.proof.predictions import KEPT, KeptKnowledge, revision
from bench.proof.settings import JOBS, MAIN_LOAD, SEEDS, Window, all_sites, setting, shaken
from schedmate.core import PreemptionLimits
from schedmate.simulator import Setting, plan
from schedmate.simulator.experiments.knowledge import SEMANTIC
from schedmate.simulator.experiments.run import PolicyRun, run
from schedmate.simulator.synthetic import Levers
from schedmate.simulator.synthetic.levers import RESTART_S

POLICIES: Final = ("easy", "multifactor")
SHARES: Final = {
    "assumed": Levers(resumable=0.6, shareable=0.2, doomed=0.05),
    "measured": Levers(resumable=0.065, shareable=0.1, doomed=0.05),
}
LEVERS: Final[dict[str, tuple[str, ...]]] = {
    "order": (),
    "requeue": ("resumable",),
    "sharing": ("shareable",),
    "stopping": ("doomed",),
    "all": ("resumable", "shareable", "doomed"),
}
"""Each with the shares that it uses."""
LAS, BLIND = "las", "blind"
CONTROLS: Final = ("constant", "permuted", "history", LAS, BLIND, SEMANTIC, "oracle")
PUBLISHED: Final = {
    "PAI": 0.08,
    "Helios": 0.13,
    "Kalos": 0.17,
    "Philly": 0.21,
    "Seren": 0.32,
    "ThetaGPU": 0.59,
}
"""Wait over run time of clusters, as published."""
_LOSES: Final = 0.98
_LATE_S: Final = 12 * 3600.0
_BINS: Final = (0.0, 0.15, 0.3, 0.6, 1.0, 1.5, 2.5)
_PARTS: Final = "+advisor+tracker"


@dataclass(frozen=True, slots=True)
class Task:
    window: Window
    levers: tuple[str, ...]
    controls: tuple[str, ...]
    shares: Levers
    widest: float


def digest(task: Task) -> str:
    """Of all that its rows depend on."""
    return hashlib.sha256(f"{revision()} {task}".encode()).hexdigest()[:16]


def _kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def lever_of(name: str, shares: Levers) -> Levers:
    unused = {each: 0.0 for each in LEVERS["all"] if each not in LEVERS[name]}
    return replace(shares, **unused)  # type: ignore[arg-type]  # all of them are shares


def measured(task: Task) -> list[dict[str, Any]]:
    """A row for each policy, lever and control of one setting."""
    drawn = setting(task.window)
    knowledge = KeptKnowledge(drawn, task.window)
    first, second = (replace(shaken(drawn, each), restart_s=RESTART_S) for each in (0, 1))
    rows = []
    for policy in POLICIES:
        alone, again = run(first, plan(policy), knowledge), run(second, plan(policy), knowledge)
        base = _completion(alone)
        by_chance = float((_completion(again) - base > _LATE_S).mean())
        counts = jobs_wait(policy, first.columns, base)
        facts = {
            "task": digest(task),
            "site": task.window.site,
            "seed": task.window.seed,
            "policy": policy,
            "counts": counts,
            "wait_over_run": float(base.mean() / first.columns.duration.mean() - 1.0),
            "by_chance": by_chance,
        }
        for lever in task.levers:
            for control in task.controls:
                if control == BLIND and "resumable" not in LEVERS[lever]:
                    continue
                here = replace(
                    first,
                    levers=replace(lever_of(lever, task.shares), blind=control == BLIND),
                    preemption=PreemptionLimits(widest=task.widest),
                )
                row = _row(here, policy, control, alone, knowledge)
                rows.append({**facts, "lever": lever, "control": control, **row})
    return rows


def _row(
    here: Setting, policy: str, control: str, alone: PolicyRun, knowledge: KeptKnowledge
) -> dict[str, Any]:
    predictor = {LAS: "none", BLIND: SEMANTIC}.get(control, control)
    began = time.process_time()
    aided = run(here, plan(policy + _PARTS), knowledge, predictor=predictor)
    spent = time.process_time() - began
    before, after = _completion(alone), _completion(aided)
    held = [float(one.outcome.gpu_seconds.sum()) for one in (alone, aided)]
    return {
        "gain": float(before.mean() / after.mean()),
        "p99": float(np.quantile(after, 0.99) / np.quantile(before, 0.99)),
        "late": float((after - before > _LATE_S).mean()),
        "gpu_time": held[1] / held[0],
        "ms": 1000.0 * spent / len(before),
        "actions": {name: aided.actions.get(name, 0) for name in ("preempt", "share", "cancel")},
    }


def _completion(one: PolicyRun) -> np.ndarray:
    return np.asarray(one.outcome.end - one.columns.submit)


Rows = Sequence[dict[str, Any]]


def show(rows: Rows, levers: Iterable[str], controls: Iterable[str]) -> None:
    for policy in POLICIES:
        here = [row for row in rows if row["policy"] == policy and row["counts"]]
        settings = {(row["site"], row["seed"]) for row in here}
        chance = np.mean([row["by_chance"] for row in here])
        print(
            f"\n{policy}: {len(settings)} settings count; {chance:.1%} of the jobs are later by "
            "chance"
        )
        print(
            f"{'lever':10}{'by':11}{'gain':>7}  {'(95 %)':16}{'of oracle':>9}{'p99':>6}"
            f"{'worst':>7}{'lose':>5}{'later':>7}{'GPU time':>9}{'ms a job':>9}"
        )
        for lever in levers:
            for control in controls:
                these = _those(here, lever, control)
                if these:
                    print(f"{lever:10}{control:11}{_cells(these, _those(here, lever, 'oracle'))}")


def _those(rows: Rows, lever: str, control: str) -> list[dict[str, Any]]:
    return [row for row in rows if (row["lever"], row["control"]) == (lever, control)]


def _mean(rows: Rows, name: str) -> float:
    return geometric_mean(by_cluster((row["site"], row[name]) for row in rows))


def _cells(these: Rows, oracle: Rows) -> str:
    gain = _mean(these, "gain")
    low, high = interval(by_cluster((row["site"], row["gain"]) for row in these))
    best = _mean(oracle, "gain") if oracle else float("nan")
    gains = [row["gain"] for row in these]
    late = np.mean([row["late"] for row in these])
    held, spent = (np.mean([row[name] for row in these]) for name in ("gpu_time", "ms"))
    return (
        f"{gain:7.3f}  {f'({low:.2f} to {high:.2f})':16}{(gain - 1) / (best - 1):9.0%}"
        f"{_mean(these, 'p99'):6.2f}{min(gains):7.2f}{sum(each < _LOSES for each in gains):5}"
        f"{late:7.1%}{held:9.3f}{spent:9.2f}"
    )


def by_load(rows: Rows, levers: Iterable[str]) -> dict[str, list[Line]]:
    """Gain by wait over run time, lever by lever; all settings, also those in which few wait."""
    panels: dict[str, list[Line]] = {}
    for policy in POLICIES:
        lines = panels.setdefault(policy, [])
        for lever in levers:
            points = defaultdict(list)
            for row in _those([row for row in rows if row["policy"] == policy], lever, SEMANTIC):
                points[int(np.searchsorted(_BINS, row["wait_over_run"], side="right"))].append(row)
            bins = [points[each] for each in sorted(points) if each < len(_BINS)]
            at = tuple(float(np.mean([row["wait_over_run"] for row in each])) for each in bins)
            gains = tuple(geometric_mean(row["gain"] for row in each) for each in bins)
            spans = tuple((gain, gain) for gain in gains)
            lines.append(Line(lever, at, gains, spans))
            cells = "  ".join(
                f"{x:.2f}: {y:.2f} ({len(each)})"
                for x, y, each in zip(at, gains, bins, strict=True)
            )
            print(f"{policy:12}{lever:10}{cells}")
        top = lines[-1]
        lines.append(Line("1 + wait/run", top.x, tuple(1 + x for x in top.x), top.bars))
    return panels


def windows(arguments: Any) -> list[Window]:
    sites = [site.name for site in all_sites() if site.held_out == arguments.held_out]
    if arguments.sites:
        sites = arguments.sites.split(",")
    found = [
        Window(site=site, seed=seed, load=load, jobs=arguments.jobs)
        for load in map(float, arguments.loads.split(","))
        for seed in map(int, arguments.seeds.split(","))
        for site in sites
    ]
    return found[: arguments.settings]


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="of each window")
    parser.add_argument("--settings", type=int, help="only so many, one of each cluster first")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--loads", default=str(MAIN_LOAD))
    parser.add_argument("--sites", default="", help="names, instead of all")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--shares", choices=SHARES, default="assumed")
    parser.add_argument("--levers", default=",".join(LEVERS))
    parser.add_argument("--controls", default=",".join(CONTROLS))
    parser.add_argument(
        "--widest",
        type=float,
        default=PreemptionLimits().widest,
        help="share of all GPUs on which a run may be stopped at most",
    )
    parser.add_argument("--by-load", action="store_true", help="gain over wait/run, as a figure")
    parser.add_argument("--figure", type=Path, default=KEPT / "levers.svg")
    parser.add_argument("--rows", type=Path, help="keep every figure here, take those that are")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    began = time.monotonic()
    levers = tuple(asked.levers.split(","))
    controls = (SEMANTIC,) if asked.by_load else tuple(asked.controls.split(","))
    shares = SHARES[asked.shares]
    tasks = [Task(each, levers, controls, shares, asked.widest) for each in windows(asked)]
    rows: list[dict[str, Any]] = []
    kept = [] if asked.rows is None or not asked.rows.exists() else _kept(asked.rows)
    rows += [row for row in kept if row["task"] in {digest(each) for each in tasks}]
    left = [each for each in tasks if digest(each) not in {row["task"] for row in rows}]
    with ProcessPoolExecutor(asked.workers) as pool:
        done = pool.map(measured, left)
        for _ in progress(left, "settings"):
            rows += (found := next(done))
            if asked.rows is not None:
                with asked.rows.open("a", encoding="utf-8") as file:
                    file.write("".join(json.dumps(row) + "\n" for row in found))
    if asked.by_load:
        drawn = by_load(rows, levers)
        marks = [Mark(name, at, at, at) for name, at in PUBLISHED.items()]
        asked.figure.parent.mkdir(parents=True, exist_ok=True)
        label = "wait over run time of the scheduler alone; marks are published clusters"
        asked.figure.write_text(figure(drawn, marks, x=label), encoding="utf-8")
        print(asked.figure)
    else:
        show(rows, levers, controls)
    print(f"\n{len(tasks)} settings, shares {asked.shares}; revision {revision()}; "
          f"{time.monotonic() - began:.0f} s on {machine()}")  # fmt: skip


if __name__ == "__main__":
    main()

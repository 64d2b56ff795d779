"""The full table: every setting by name, and what the worst user and the worst job lose.

    python -m bench.proof.table                              # every cluster, load and seed
    python -m bench.proof.table --rows measured.jsonl        # of what was measured before
    python -m bench.proof.table --jobs 200 --seeds 0 --sites theta --loads 1.25 --workers 1

Code that explains half of the variance (`--explained`); beside `easy`, `multifactor` and `fifo`,
and inside `qssf`, `tiresias`, `las` and `lucid`. For each policy and predictor: geometric mean of
the gain in average completion time over the settings that count, its least and largest, the gain in
slowdown, the 99th percentile with over without, the least gain of a user with ten jobs, and by how
much later at most a job ends. Settings and their rules: bench/proof/settings.py. With five seeds,
three loads and 300 jobs it takes about an hour on two cores.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.command import command_line, machine
from bench.proof.measuring import ALONE, Case, geometric_mean, interval, measure_all
from bench.proof.settings import LOADS, SEEDS, all_sites
from schedmate.simulator.estimators.controls import CONTROLS, HISTORY

POLICIES = ("easy", "multifactor", "fifo", "qssf", "tiresias", "las", "lucid")
JOBS = 300
Rows = Sequence[dict[str, Any]]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def summarise(rows: Rows, explained: float) -> None:
    """A line for each policy and predictor, of the settings that count."""
    print("policy | predictor | settings | gain (95 % over seeds) | worst, best | slowdown | p99 |"
          " worst user | latest job, h")  # fmt: skip
    for policy in dict.fromkeys(row["policy"] for row in rows):
        for predictor in CONTROLS:
            these = [
                row
                for row in rows
                if (row["policy"], row["predictor"]) == (policy, predictor)
                and row["counts"]
                and row["explained"] == explained
            ]
            if these:
                print(f"{policy} | {predictor} | {_figures(these)}")


def _figures(these: Rows) -> str:
    seeds: dict[int, list[float]] = defaultdict(list)
    for row in these:
        seeds[row["seed"]].append(row["gain"])
    low, high = interval([geometric_mean(each) for each in seeds.values()])
    gains = [row["gain"] for row in these]
    means = {name: geometric_mean(row[name] for row in these) for name in ("slowdown_gain", "p99")}
    worst = min(row["worst_user"] for row in these)
    latest = max(row["worst_job_h"] for row in these)
    return (
        f"{len(these)} | {geometric_mean(gains):.2f} ({low:.2f} to {high:.2f}) | "
        f"{min(gains):.2f}, {max(gains):.2f} | {means['slowdown_gain']:.2f} | {means['p99']:.2f} | "
        f"{worst:.2f} | {latest:.0f}"
    )


def list_settings(rows: Rows, explained: float) -> None:
    """Every setting, also those that do not count."""
    print("\nsetting | seed | load | GPUs | policy | slowdown alone | best history | semantic |"
          " oracle | p99 of semantic")  # fmt: skip
    settings: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        if row["explained"] == explained:
            key = tuple(row[name] for name in ("site", "seed", "load", "gpus", "policy"))
            settings[key][row["predictor"]] = row
    for key, found in sorted(settings.items()):
        if "semantic" not in found:
            continue
        best = max((found[name]["gain"] for name in HISTORY if name in found), default=1.0)
        semantic = found["semantic"]
        counted = "" if semantic["counts"] else " (does not count)"
        print(
            f"{key[0]} | {key[1]} | {key[2]:g} | {key[3]} | {key[4]}{counted} | "
            f"{semantic['slowdown_alone']:.2f} | {best:.2f} | {semantic['gain']:.2f} | "
            f"{found['oracle']['gain'] if 'oracle' in found else float('nan'):.2f} | "
            f"{semantic['p99']:.2f}"
        )


def measured(arguments: Any) -> Iterable[dict[str, Any]]:
    wanted = arguments.sites.split(",")
    cases = [
        Case(
            site=site.name,
            held_out=site.held_out,
            seed=seed,
            load=load,
            jobs=arguments.jobs,
            policies=tuple(arguments.policies.split(",")),
            shares=(arguments.explained,),
        )
        for seed in map(int, arguments.seeds.split(","))
        for load in map(float, arguments.loads.split(","))
        for site in all_sites()
        if not arguments.sites or site.name in wanted
    ]
    return measure_all(cases, workers=arguments.workers)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument(
        "--rows", type=Path, help="measurements by this command or bench.proof.gain"
    )
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--loads", default=",".join(map(str, LOADS)))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--explained", type=float, default=0.5)
    parser.add_argument("--sites", default="", help="names, instead of all")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    began = time.monotonic()
    rows = rows_of(arguments.rows) if arguments.rows else list(measured(arguments))
    held = {False: "development clusters", True: "held-out clusters"}
    for which, name in held.items():
        these = [row for row in rows if row["held_out"] == which and row["predictor"] != ALONE]
        if these:
            print(f"\n{name}\n")
            summarise(these, arguments.explained)
            list_settings(these, arguments.explained)
    print(f"\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

"""The full table: every setting by name, and what the worst user and the worst job lose.

    python -m bench.proof.table                              # every development cluster and load
    python -m bench.proof.table --rows measured.jsonl        # of what bench.proof.gain wrote there
    python -m bench.proof.table --jobs 200 --seeds 0 --sites theta --loads 1.25 --workers 1

Code that explains half of the variance (`--explained`), beside `easy`, `multifactor` and `fifo`.
For each policy and predictor: geometric mean of the gain in average completion time over the
settings that count, its least and largest, the gain in slowdown, the 99th percentile with over
without, the least gain of a user with ten jobs, by how much later at most a job ends, and how far
off (log) predictions are on average. Then how SchedMate's predictions compare to each history
control setting by setting, and every setting. Settings and their rules: bench/proof/settings.py.
Of a file with rows of several revisions, those of the newest are shown; of a setting that was
measured with another past or bound, too, those of the newest measurement.
About fifteen minutes on two cores.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.command import command_line, machine
from bench.proof.measuring import (
    ALONE,
    INSTEAD,
    Case,
    by_cluster,
    geometric_mean,
    interval,
    measure_all,
)
from bench.proof.settings import JOBS, LOADS, PAST, SEEDS, Window, all_sites
from schedmate.simulator.estimators.controls import CONTROLS, HISTORY

POLICIES = ("easy", "multifactor", "fifo")
_BEHIND = 0.98
_SAME_SERIES = ("revision", "past", "bound")
_SAME_FIGURE = ("site", "seed", "load", "explained", "policy", "plan", "predictor")
Rows = Sequence[dict[str, Any]]


def newest_rows(path: Path) -> list[dict[str, Any]]:
    """Of one revision, past and bound: those of the last row, as measurements are appended. A row
    that was measured again takes the place of the one before."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if not rows:
        raise SystemExit(f"there are no measurements in {path}: write some with bench.proof.gain")
    kept = {
        tuple(row[name] for name in _SAME_FIGURE): row
        for row in rows
        if all(row.get(name) == rows[-1][name] for name in _SAME_SERIES)
    }
    if left_out := len(rows) - len(kept):
        others = {row.get("revision") for row in rows} - {rows[-1]["revision"]}
        print(
            f"{left_out} of {len(rows)} rows left out: {len(others)} other revisions, another past "
            "or bound, or measured again since",
            file=sys.stderr,
        )
    return list(kept.values())


def summarise(rows: Rows, explained: float) -> None:
    """A line for each policy and predictor, of the settings that count."""
    print("policy | predictor | settings | gain (95 % over clusters) | worst, best | slowdown |"
          " p99 | worst user | latest job, h | log error")  # fmt: skip
    for policy in dict.fromkeys(row["policy"] for row in rows):
        for predictor in (*CONTROLS, *INSTEAD.get(policy, ())):
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
    low, high = interval(by_cluster((row["site"], row["gain"]) for row in these))
    gains = [row["gain"] for row in these]
    means = {name: geometric_mean(row[name] for row in these) for name in ("slowdown_gain", "p99")}
    worst = min(row["worst_user"] for row in these)
    latest = max(row["worst_job_h"] for row in these)
    return (
        f"{len(these)} | {geometric_mean(gains):.2f} ({low:.2f} to {high:.2f}) | "
        f"{min(gains):.2f}, {max(gains):.2f} | {means['slowdown_gain']:.2f} | {means['p99']:.2f} | "
        f"{worst:.2f} | {latest:.0f} | {sum(row['error'] for row in these) / len(these):.2f}"
    )


def split(rows: Rows, explained: float) -> None:
    """The gain where users are known and where a cluster of a trace has one user, and with traces
    instead of clusters as the sample."""
    print("\npolicy | predictor | users known | one user | mean of traces (95 % over traces)")
    for policy in dict.fromkeys(row["policy"] for row in rows):
        for predictor in CONTROLS:
            gains = [
                (row["site"], row["gain"])
                for row in rows
                if (row["policy"], row["predictor"]) == (policy, predictor)
                and row["counts"]
                and row["explained"] == explained
            ]
            known = [gain for site, gain in gains if "/" not in site]
            alone = [gain for site, gain in gains if "/" in site]
            if not (known and alone):
                continue
            traces = by_cluster((site.partition("/")[0], gain) for site, gain in gains)
            low, high = interval(traces)
            print(
                f"{policy} | {predictor} | {geometric_mean(known):.2f} ({len(known)}) | "
                f"{geometric_mean(alone):.2f} ({len(alone)}) | "
                f"{geometric_mean(traces):.2f} ({low:.2f} to {high:.2f})"
            )


def compare_to_history(rows: Rows, explained: float) -> None:
    """Setting by setting: the gain by each predictor over that by each of the others that read no
    code, and in how many settings it is behind by more than 2 %; `best` is the best of those in
    hindsight. The same is shown of the controls, as a measure of what chance does."""
    print(f"\npolicy | predictor | settings | {' | '.join(f'over {name}' for name in HISTORY)}"
          " | over the best")  # fmt: skip
    for policy in dict.fromkeys(row["policy"] for row in rows):
        settings: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
        for row in rows:
            if row["policy"] == policy and row["counts"] and row["explained"] == explained:
                key = row["site"], row["seed"], row["load"]
                settings[key][row["predictor"]] = row["gain"]
        found = [gains for gains in settings.values() if {"semantic", *HISTORY} <= set(gains)]
        for predictor in (*HISTORY, "semantic") if found else ():
            others = [name for name in HISTORY if name != predictor]
            cells = [
                "-" if name == predictor else _behind([(g[predictor], g[name]) for g in found])
                for name in HISTORY
            ]
            best = _behind([(g[predictor], max(g[name] for name in others)) for g in found])
            print(f"{policy} | {predictor} | {len(found)} | {' | '.join(cells)} | {best}")


def _behind(pairs: Sequence[tuple[float, float]]) -> str:
    """The mean ratio, and how many are behind by more than 2 %."""
    ratios = [ours / theirs for ours, theirs in pairs]
    behind = sum(ratio < _BEHIND for ratio in ratios)
    return f"{geometric_mean(ratios):.2f} ({behind} behind, least {min(ratios):.2f})"


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
            window=Window(
                site=site.name,
                seed=seed,
                load=load,
                jobs=arguments.jobs,
                past=arguments.past,
                explained=arguments.explained,
            ),
            held_out=site.held_out,
            policies=tuple(arguments.policies.split(",")),
            instead=True,
        )
        for seed in map(int, arguments.seeds.split(","))
        for load in map(float, arguments.loads.split(","))
        for site in all_sites()
        if (site.name in wanted if arguments.sites else site.held_out == arguments.held_out)
    ]
    return measure_all(cases, workers=arguments.workers)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument(
        "--rows", type=Path, help="measurements by this command or bench.proof.gain"
    )
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--past", type=int, default=PAST, help="jobs before it, at most")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--loads", default=",".join(map(str, LOADS)))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--explained", type=float, default=0.5)
    parser.add_argument("--sites", default="", help="names, instead of all")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    began = time.monotonic()
    rows = newest_rows(arguments.rows) if arguments.rows else list(measured(arguments))
    held = {False: "development clusters", True: "held-out clusters"}
    for which, name in held.items():
        these = [row for row in rows if row["held_out"] == which and row["predictor"] != ALONE]
        if these:
            print(f"\n{name}\n")
            summarise(these, arguments.explained)
            split(these, arguments.explained)
            compare_to_history(these, arguments.explained)
            list_settings(these, arguments.explained)
    revisions = ", ".join(sorted({row["revision"] for row in rows}))
    print(f"\nrevision {revisions}; {time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

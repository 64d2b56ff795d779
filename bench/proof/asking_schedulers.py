"""What SchedMate's answers are worth to schedulers that ask, beside every control.

    python -m bench.proof.asking_schedulers                        # development clusters
    python -m bench.proof.asking_schedulers itp --jobs 400 --seeds 0   # a look in a few minutes
    python -m bench.proof.asking_schedulers --policies lucid,sia

- `qssf`: its predictor's run times against SchedMate's, in the same order.
- `tiresias`, `las`: with the parameters that are best on these very jobs (bench/proof/tuning.py),
  against the Gittins index of predictions.
- `lucid`: as published, profiling charged; with run times and use of the GPUs answered, so that
  long jobs that are predicted surely are not profiled; and with the progress of runs too, by
  which pairs that lose by sharing are parted.
- `sia`: its throughput model as it learns by trying, against one seeded by what neighbours showed.

Each gain is the average completion time alone over that with answers, the geometric mean over the
settings in which jobs wait under the policy alone; every column has another predictor in the place
of SchedMate's. What a job uses of its GPUs is known where it is not profiled, whatever predictor
answers, which favours the controls. `/history` is the gain by SchedMate's predictions over that by
the best of what a site has without reading code, `worst` is the least gain of a setting, p99 the
99th percentile with answers over alone. Settings: bench/proof/settings.py.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.command import command_line, console, machine, progress, table
from bench.proof.measuring import ALONE, Case, geometric_mean, measured
from bench.proof.predictions import revision
from bench.proof.settings import JOBS, MAIN_LOAD, SEEDS, Window
from bench.proof.tuned_baselines import chosen
from schedmate.simulator.estimators.controls import CONTROLS, HISTORY
from schedmate.simulator.experiments.knowledge import SEMANTIC

PARTS = {
    "qssf": ("+advisor",),
    "tiresias": ("+advisor", "+advisor+tracker"),
    "las": ("+advisor", "+advisor+tracker"),
    "lucid": ("+advisor", "+advisor+tracker"),
    "sia": ("+advisor",),
}
"""By policy: what of SchedMate answers it."""
Rows = list[dict[str, Any]]


def show(rows: Rows, predictors: list[str]) -> None:
    made = table(
        "average completion alone over with answers",
        ("plan", "n", *predictors, "/history", "worst", "p99"),
    )
    for name, counted in _by_plan(row for row in rows if row["counts"]).items():
        gains = {
            each: geometric_mean(row["gain"] for row in counted if row["predictor"] == each)
            for each in predictors
        }
        ours = [row for row in counted if row["predictor"] == SEMANTIC]
        known = [gains[each] for each in HISTORY if each in gains]
        made.add_row(
            name,
            str(len(ours)),
            *(f"{gains[each]:.2f}" for each in predictors),
            f"{gains[SEMANTIC] / max(known):.2f}" if known else "-",
            f"{min(row['gain'] for row in ours):.2f}",
            f"{geometric_mean(row['p99'] for row in ours):.2f}",
        )
    console().print(made)


def show_settings(rows: Rows) -> None:
    plans = _by_plan(row for row in rows if row["predictor"] == SEMANTIC)
    made = table("every setting, SchedMate's predictions: gain (p99)", ("setting", *plans))
    cells: dict[str, dict[str, str]] = defaultdict(dict)
    for name, found in plans.items():
        for row in found:
            gain = f"{row['gain']:.2f} ({row['p99']:.2f})" if row["counts"] else "no waits"
            cells[f"{row['site']}, seed {row['seed']}"][name] = gain
    for setting, line in cells.items():
        made.add_row(setting, *(line.get(name, "-") for name in plans))
    console().print(made)


def _by_plan(rows: Iterable[dict[str, Any]]) -> dict[str, Rows]:
    found: dict[str, Rows] = defaultdict(list)
    for row in rows:
        if row["predictor"] != ALONE:
            found[row["plan"]].append(row)
    return found


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="beginning of a name: itp/")
    parser.add_argument("--policies", default=",".join(PARTS))
    parser.add_argument("--predictors", default=",".join(CONTROLS))
    parser.add_argument("--jobs", type=int, default=JOBS, help="of each window")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--explained", type=float, default=0.5)
    parser.add_argument("--load", type=float, default=MAIN_LOAD)
    parser.add_argument("--held-out", action="store_true", help="the clusters for the end")
    parser.add_argument("--rows", type=Path, help="write every measurement here, one a line")
    asked = parser.parse_args()
    predictors, policies = asked.predictors.split(","), asked.policies.split(",")
    began = time.monotonic()
    rows: Rows = []
    windows = [
        Window(site=name, seed=seed, explained=asked.explained, load=asked.load, jobs=asked.jobs)
        for name, seed in chosen(asked.sites, asked.seeds, held_out=asked.held_out)
    ]
    for window in progress(windows, "settings"):
        for policy in policies:
            case = Case(
                window=window,
                held_out=asked.held_out,
                policies=(policy,),
                parts=PARTS[policy],
                predictors=tuple(predictors),
            )
            found = measured(case)
            rows += found
            if asked.rows:
                with asked.rows.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in found)
    show(rows, predictors)
    show_settings(rows)
    print(f"revision {revision()}; {time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

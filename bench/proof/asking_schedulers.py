"""What SchedMate's answers are worth to schedulers that ask, beside every control.

    python -m bench.proof.asking_schedulers                        # development clusters, one seed
    python -m bench.proof.asking_schedulers itp --jobs 400 --seeds 1   # a look in a few minutes
    python -m bench.proof.asking_schedulers --policies lucid,sia --seeds 5

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

import time
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from bench.command import command_line, console, machine, progress, table
from bench.proof.measuring import geometric_mean
from bench.proof.settings import WAITS, setting
from bench.proof.tuned_baselines import chosen
from bench.proof.tuning import average_s, best_of_grid
from schedmate.policies import POLICIES
from schedmate.simulator import Setting, plan
from schedmate.simulator.estimators.controls import CONTROLS, HISTORY
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.run import PolicyRun, run

ARMS = {
    "qssf": ("qssf+advisor",),
    "tiresias": ("tiresias+advisor", "tiresias+advisor+tracker"),
    "las": ("las+advisor", "las+advisor+tracker"),
    "lucid": ("lucid+advisor", "lucid+advisor+tracker"),
    "sia": ("sia+advisor",),
}
"""By the policy alone: the plans in which it is answered."""


@dataclass(frozen=True, slots=True)
class Answered:
    setting: str
    predictor: str
    gain: float
    p99: float


def measure(drawn: Setting, policy: str, predictors: list[str]) -> dict[str, list[Answered]]:
    """Of each arm of one policy; nothing where jobs hardly wait under it alone."""
    knowledge = Knowledge(drawn)
    alone = best_of_grid(drawn, policy, knowledge)
    if not waits(drawn, alone):
        return {}
    return {
        arm: [
            _answered(
                drawn, predictor, alone, run(drawn, plan(arm), knowledge, predictor=predictor)
            )
            for predictor in predictors
        ]
        for arm in ARMS[policy]
    }


def waits(drawn: Setting, alone: PolicyRun) -> bool:
    """A policy that stretches jobs makes their run times itself: there all settings count."""
    if POLICIES[plan(alone.policy).policy].orders_by == "goodput":
        return True
    ran = float(drawn.columns.duration.mean())
    return average_s(alone) - ran >= WAITS * ran


def _answered(drawn: Setting, predictor: str, alone: PolicyRun, aided: PolicyRun) -> Answered:
    before, after = (each.outcome.end - each.columns.submit for each in (alone, aided))
    return Answered(
        f"{drawn.name}, seed {drawn.seed}",
        predictor,
        float(before.mean() / after.mean()),
        float(np.quantile(after, 0.99) / np.quantile(before, 0.99)),
    )


def show(found: dict[str, list[Answered]], predictors: list[str]) -> None:
    made = table(
        "average completion alone over with answers",
        ("plan", "n", *predictors, "/history", "worst", "p99"),
    )
    for arm, rows in found.items():
        gains = {
            name: geometric_mean(row.gain for row in rows if row.predictor == name)
            for name in predictors
        }
        ours = [row for row in rows if row.predictor == SEMANTIC]
        known = [gains[name] for name in HISTORY if name in gains]
        worst = min(ours, key=lambda row: row.gain)
        made.add_row(
            arm,
            str(len(ours)),
            *(f"{gains[name]:.2f}" for name in predictors),
            f"{gains[SEMANTIC] / max(known):.2f}" if known else "-",
            f"{worst.gain:.2f}",
            f"{geometric_mean(row.p99 for row in ours):.2f}",
        )
    console().print(made)


def show_settings(found: dict[str, list[Answered]]) -> None:
    made = table("every setting, SchedMate's predictions: gain (p99)", ("setting", *found))
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for arm, answers in found.items():
        for row in answers:
            if row.predictor == SEMANTIC:
                rows[row.setting][arm] = f"{row.gain:.2f} ({row.p99:.2f})"
    for name, cells in rows.items():
        made.add_row(name, *(cells.get(arm, "no waits") for arm in found))
    console().print(made)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="beginning of a name: itp/")
    parser.add_argument("--policies", default=",".join(ARMS))
    parser.add_argument("--predictors", default=",".join(CONTROLS))
    parser.add_argument("--jobs", type=int, default=600, help="of each window")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--explained", type=float, default=0.5)
    parser.add_argument("--load", type=float, default=1.25)
    parser.add_argument("--held-out", action="store_true", help="the clusters for the end")
    asked = parser.parse_args()
    predictors = asked.predictors.split(",")
    began = time.monotonic()
    found: dict[str, list[Answered]] = defaultdict(list)
    settings = chosen(asked.sites, asked.seeds, held_out=asked.held_out)
    for name, seed in progress(settings, "settings"):
        drawn = setting(
            name, seed=seed, explained=asked.explained, jobs=asked.jobs, load=asked.load
        )
        for policy in asked.policies.split(","):
            for arm, rows in measure(drawn, policy, predictors).items():
                found[arm] += rows
    show(found, predictors)
    show_settings(found)
    print(f"{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

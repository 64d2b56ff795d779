"""How much of the gain the bound on being overtaken costs, and what it does for the slowest jobs.

    python -m bench.proof.frontier
    python -m bench.proof.frontier --seeds 0 --sites theta --workers 1     # a trial

Beside `easy` and `multifactor`, code that explains half of the variance, settings of
bench/proof/settings.py: for each bound (so many hours late by jobs that the scheduler alone puts
behind it; after the longer of so many hours of waiting and so many times the predicted run time; or
both; no later than in the run of the policy alone plus so many hours, which nobody knows live) the
average gain, the 99th percentile with SchedMate over that without, and by how much
later at most a job ends (the mean over settings, and in all), and the share of jobs that end later
by more than 12 hours, beside that of the policy alone in one shaken run against another. The knee
is the bound from which on longer ones gain ever less: of the curve of the gain over the logarithm
of the hours, the point farthest above the line between its ends (no bound counts as a month).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bench.command import command_line, machine
from bench.proof.measuring import ALONE, Case, geometric_mean, measure_all
from bench.proof.settings import JOBS, MAIN_LOAD, SEEDS, SHAKES, Window, all_sites
from bench.proof.shadow import ShadowLimits
from schedmate.core import FairnessLimits

LATE_H = (1.0, 3.0, 6.0, 9.0, 12.0, 24.0, 48.0, 1e6)
SHADOWS = tuple(ShadowLimits(hours=hours) for hours in (6.0, 12.0))
WAITED = tuple(
    FairnessLimits(late_hours=late, hours=hours, times=times)
    for late, hours, times in (
        (0.0, 6.0, 3.0),
        (0.0, 12.0, 5.0),
        (0.0, 24.0, 10.0),
        (12.0, 12.0, 5.0),
    )
)
_MONTH_H = 720.0
_FEW = 2


def _named(bound: FairnessLimits) -> str:
    if isinstance(bound, ShadowLimits):
        return f"plain + {bound.hours:g} h"
    return f"{bound.late_hours:g} h, {bound.hours:g} h, {bound.times:g}x"


def knee(bounds: Sequence[FairnessLimits], gains: Sequence[float]) -> int:
    """Of the gain by the logarithm of the bound: farthest above the line between its ends."""
    hours = np.log([min(bound.late_hours, _MONTH_H) for bound in bounds])
    across, up = ((each - each[0]) / (each[-1] - each[0]) for each in (hours, np.log(gains)))
    return int(np.argmax(up - across))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--load", type=float, default=MAIN_LOAD)
    parser.add_argument("--beside", default="easy,multifactor")
    parser.add_argument("--sites", default="", help="names, instead of the rule")
    parser.add_argument("--late", default=",".join(f"{each:g}" for each in LATE_H))
    parser.add_argument("--shakes", type=int, default=SHAKES)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    began, wanted = time.monotonic(), arguments.sites.split(",")
    late_hours = tuple(FairnessLimits(late_hours=float(each)) for each in arguments.late.split(","))
    bounds = (*late_hours, *WAITED, *SHADOWS)
    cases = [
        Case(
            window=Window(site=site.name, seed=seed, jobs=arguments.jobs, load=arguments.load),
            policies=tuple(arguments.beside.split(",")),
            predictors=("semantic",),
            bounds=bounds,
            shakes=arguments.shakes,
        )
        for seed in map(int, arguments.seeds.split(","))
        for site in all_sites()
        if (site.name in wanted if arguments.sites else not site.held_out)
    ]
    found: dict[tuple[str, tuple[float, float, float]], list[tuple[float, ...]]]
    found = defaultdict(list)
    for row in measure_all(cases, workers=arguments.workers):
        if row["counts"] and row["predictor"] != ALONE:
            key = row["policy"], tuple(row["bound"])
            figures = "gain", "p99", "worst_job_h", "late", "late_by_chance"
            found[key].append(tuple(row[each] for each in figures))
    for policy in arguments.beside.split(","):
        print(
            f"\n{policy}: late, waited, times | gain | p99 | latest job, hours | "
            "12 h later, by chance | settings"
        )
        means = []
        for bound in bounds:
            values = bound.late_hours, bound.hours, bound.times
            gains, tails, latest, late, chance = zip(*found[policy, values], strict=True)
            means.append(geometric_mean(gains))
            print(
                f"{_named(bound)} | {means[-1]:.3f} | "
                f"{geometric_mean(tails):.3f} | {np.mean(latest):.1f}, {max(latest):.1f} | "
                f"{100 * np.mean(late):.2f} %, {100 * np.mean(chance):.2f} % | {len(gains)}"
            )
        if len(late_hours) > _FEW:
            at = knee(late_hours, means[: len(late_hours)])
            print(f"knee: {late_hours[at].late_hours:g} h late")
    print(f"\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

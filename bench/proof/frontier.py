"""How much of the gain the bound on being overtaken costs, and what it does for the slowest jobs.

    python -m bench.proof.frontier
    python -m bench.proof.frontier --seeds 0 --sites theta --workers 1     # a trial

Beside `easy` and `multifactor`, code that explains half of the variance, settings of
bench/proof/settings.py: for each bound (the longer of so many hours and so many times the predicted
run time) the average gain, the 99th percentile with SchedMate over that without, and by how much
later at most a job ends. The knee is the bound from which on longer ones gain ever less: of the
curve of the gain over the logarithm of the hours, the point farthest above the line between its
ends (no bound counts as a month).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bench.command import command_line, machine
from bench.proof.measuring import ALONE, Case, geometric_mean, measure_all
from bench.proof.settings import JOBS, MAIN_LOAD, SEEDS, Window, all_sites
from schedmate.core import FairnessLimits

BOUNDS = tuple(
    FairnessLimits(hours=hours, times=times)
    for hours, times in ((1, 1), (3, 2), (6, 3), (12, 5), (24, 10), (72, 10), (1e6, 10))
)
_MONTH_H = 720.0


def knee(bounds: Sequence[FairnessLimits], gains: Sequence[float]) -> int:
    """Of the gain by the logarithm of the bound: farthest above the line between its ends."""
    hours = np.log([min(bound.hours, _MONTH_H) for bound in bounds])
    across, up = ((each - each[0]) / (each[-1] - each[0]) for each in (hours, np.log(gains)))
    return int(np.argmax(up - across))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--load", type=float, default=MAIN_LOAD)
    parser.add_argument("--beside", default="easy,multifactor")
    parser.add_argument("--sites", default="", help="names, instead of the rule")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    began, wanted = time.monotonic(), arguments.sites.split(",")
    cases = [
        Case(
            window=Window(site=site.name, seed=seed, jobs=arguments.jobs, load=arguments.load),
            policies=tuple(arguments.beside.split(",")),
            predictors=("semantic",),
            bounds=BOUNDS,
        )
        for seed in map(int, arguments.seeds.split(","))
        for site in all_sites()
        if (site.name in wanted if arguments.sites else not site.held_out)
    ]
    found: dict[tuple[str, tuple[float, float]], list[tuple[float, float, float]]]
    found = defaultdict(list)
    for row in measure_all(cases, workers=arguments.workers):
        if row["counts"] and row["predictor"] != ALONE:
            key = row["policy"], row["bound"]
            found[key].append((row["gain"], row["p99"], row["worst_job_h"]))
    for policy in arguments.beside.split(","):
        print(f"\n{policy}: hours, times | gain | p99 | latest job, hours | settings")
        means = []
        for bound in BOUNDS:
            gains, tails, latest = zip(*found[policy, (bound.hours, bound.times)], strict=True)
            means.append(geometric_mean(gains))
            print(
                f"{bound.hours:g} h, {bound.times:g}x | {means[-1]:.3f} | "
                f"{geometric_mean(tails):.3f} | {max(latest):.1f} | {len(gains)}"
            )
        best = BOUNDS[knee(BOUNDS, means)]
        print(f"knee: {best.hours:g} h, {best.times:g}x")
    print(f"\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

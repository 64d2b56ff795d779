"""The main figure: what SchedMate is worth by how much of the run times the code explains.

    python -m bench.proof.gain                    # development clusters, about 10 minutes
    python -m bench.proof.gain --past 0           # the same windows, predictors without a past
    python -m bench.proof.gain --held-out         # the others, to be read once
    python -m bench.proof.gain --jobs 200 --seeds 0,1 --sites theta --workers 1   # a trial

Beside `easy` and `multifactor` (`--beside` for others), with the bound on being overtaken as it is
by default: average completion time of the policy alone over that with SchedMate's order, geometric
mean over clusters, each of its five windows, with the 95 % interval over clusters. Each line is the
same order by another predictor; the x-axis is the share of the variance of log run times that the
numbers in the code explain. `code / none` is `semantic` over `site_model` in the same setting,
`code / history` is `semantic` over `history`.
Marks on the x-axis are of real runs: bench/proof/marks.py.
Settings and their rules: bench/proof/settings.py. Predictions are kept in build/proof, where an
interrupted run goes on; the figure is written there, too, unless `--figure` names another file.
"""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.command import command_line, machine
from bench.proof.drawing import Line, figure
from bench.proof.marks import real_marks
from bench.proof.measuring import (
    ALONE,
    INSTEAD,
    WITHOUT_CODE,
    Case,
    by_cluster,
    geometric_mean,
    interval,
    measure_all,
)
from bench.proof.predictions import KEPT, revision
from bench.proof.settings import JOBS, PAST, SEEDS, Window, all_sites
from schedmate.simulator.estimators.controls import CONTROLS

WITH_CODE = tuple(name for name in CONTROLS if name not in WITHOUT_CODE)
SHARES = (0.5, 0.0, 0.9)
POLICIES = ("easy", "multifactor")
Rows = list[dict[str, Any]]


def cases(arguments: Any) -> list[Case]:
    wanted = arguments.sites.split(",") if arguments.sites else None
    chosen = [
        site
        for site in all_sites()
        if (site.name in wanted if wanted else site.held_out == arguments.held_out)
    ]
    shares = [float(share) for share in arguments.shares.split(",")]
    return [
        Case(
            window=Window(
                site=site.name,
                seed=seed,
                explained=share,
                jobs=arguments.jobs,
                past=arguments.past,
            ),
            held_out=site.held_out,
            policies=tuple(arguments.beside.split(",")),
            predictors=tuple(CONTROLS) if number == 0 else WITH_CODE,
            instead=number == 0,
        )
        for seed in map(int, arguments.seeds.split(","))
        for site in chosen
        for number, share in enumerate(shares)
    ]


def gains(rows: Rows, policy: str, predictor: str, explained: float) -> list[float]:
    """Of each cluster, over the windows that count."""
    once = (*WITHOUT_CODE, *INSTEAD.get(policy, ()))
    return by_cluster(
        (row["site"], row["gain"])
        for row in rows
        if row["policy"] == policy and row["predictor"] == predictor and row["counts"]
        if predictor in once or row["explained"] == explained
    )


def reading_over(other: str, rows: Rows, policy: str, explained: float) -> list[float]:
    """Of each cluster: the gain with code over that by another predictor, by setting."""
    pairs: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        once = row["predictor"] in WITHOUT_CODE
        if row["policy"] == policy and row["counts"] and (once or row["explained"] == explained):
            pairs[row["site"], row["seed"]][row["predictor"]] = row["gain"]
    return by_cluster((site, gain["semantic"] / gain[other]) for (site, _), gain in pairs.items())


def summary(rows: Rows, policies: list[str], shares: list[float]) -> dict[str, list[Line]]:
    drawn: dict[str, list[Line]] = {}
    for policy in policies:
        counted = {(r["site"], r["seed"]) for r in rows if r["policy"] == policy and r["counts"]}
        print(f"\n{policy}: {len(counted)} settings count; gain (95 % interval) at each share")
        print(f"{'predictor':14}" + "".join(f"{share:>22g}" for share in shares))
        drawn[policy] = []
        for predictor in (*CONTROLS, *INSTEAD.get(policy, ())):
            clusters = [gains(rows, policy, predictor, share) for share in shares]
            if not all(clusters):
                continue
            line = Line(
                predictor,
                tuple(shares),
                tuple(geometric_mean(each) for each in clusters),
                tuple(interval(each) for each in clusters),
            )
            if predictor in CONTROLS:
                drawn[policy].append(line)
            print(_cells(line))
        for name, other in (("code / none", "site_model"), ("code / history", "history")):
            pairs = [reading_over(other, rows, policy, share) for share in shares]
            ratios, bars = map(geometric_mean, pairs), map(interval, pairs)
            print(_cells(Line(name, tuple(shares), tuple(ratios), tuple(bars))))
    return drawn


def _cells(line: Line) -> str:
    cells = zip(line.y, line.bars, strict=True)
    figures = (f"{y:8.3f} ({low:.2f} to {high:.2f})" for y, (low, high) in cells)
    return f"{line.name:14}" + "".join(figures)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="of each window")
    parser.add_argument("--past", type=int, default=PAST, help="jobs before it, at most")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--beside", default=",".join(POLICIES))
    parser.add_argument("--sites", default="", help="names, instead of the rule")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--rows",
        type=Path,
        help="keep every measurement here, and take those that are here already",
    )
    parser.add_argument("--figure", type=Path, default=KEPT / "gain.svg")
    arguments = parser.parse_args()
    began = time.monotonic()
    rows: Rows = []
    first = float(arguments.shares.split(",")[0])
    for row in measure_all(cases(arguments), workers=arguments.workers, kept=arguments.rows):
        rows.append(row)
        if row["predictor"] == ALONE and row["explained"] == first:
            print(f"{row['site']} seed {row['seed']} {row['policy']}: alone {row['gpus']} GPUs,"
                  f" slowdown {row['slowdown_alone']:.2f}", flush=True)  # fmt: skip
    shares = sorted(float(share) for share in arguments.shares.split(","))
    drawn = summary(rows, arguments.beside.split(","), shares)
    arguments.figure.parent.mkdir(parents=True, exist_ok=True)
    arguments.figure.write_text(figure(drawn, real_marks()), encoding="utf-8")
    print(f"\n{arguments.figure}; predictions of revision {revision()}; "
          f"{time.monotonic() - began:.0f} s on {machine()}")  # fmt: skip


if __name__ == "__main__":
    main()

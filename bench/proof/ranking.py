"""How well predictions rank the jobs of each window, and how much of their run times they explain.

    python -m bench.proof.ranking                          # nine windows, one of each cluster
    python -m bench.proof.ranking --seeds 0,1,2,3,4        # all 45
    python -m bench.proof.ranking --sites theta --shares 0 # one window, code that explains nothing

An order needs no times, only which job is shorter than which of those that wait beside it. So each
figure is of one window alone: `rank` is Spearman's correlation of predicted and real run times,
`explained` the share of the variance of log run times that the predictions leave out of no
account (the squared correlation), `error` the mean absolute error of logarithms over that of the
window's own median. Each job counts alike (`--weigh gpu-time`: by the GPU time that it holds).
`stated` is what the numbers in the code come to at the usual pace of that code, which nobody knows
beforehand. A line ends with `!` where code ranks a window worse than `constant` or `history`.
Windows and their rules: bench/proof/settings.py. Predictions are kept in build/proof.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.command import command_line, machine
from bench.proof.predictions import KeptKnowledge
from bench.proof.settings import Window, all_sites, setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREDICTORS = ("constant", "history", "qssf", "site_model", "semantic", "stated")
BELOW = ("constant", "history")
_SHORTEST_S = 1.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """Of one predictor in one window."""

    rank: float
    explained: float
    error: float


def rank_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ties share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def correlation(
    one: NDArray[np.float64], other: NDArray[np.float64], weight: NDArray[np.float64]
) -> float:
    """0 where one of them does not vary."""
    mine, theirs = (each - np.average(each, weights=weight) for each in (one, other))
    spread = np.sqrt(np.average(mine**2, weights=weight) * np.average(theirs**2, weights=weight))
    return float(np.average(mine * theirs, weights=weight) / spread) if spread > 0 else 0.0


def ranked(
    predicted_s: NDArray[np.float64], ran_s: NDArray[np.float64], weight: NDArray[np.float64]
) -> Ranked:
    """A job of which nothing is predicted stands in the middle of the others."""
    usual = np.nanmedian(predicted_s) if np.isfinite(predicted_s).any() else 1.0
    known = np.where(np.isfinite(predicted_s), predicted_s, usual)
    said, real = (np.log(np.maximum(each, _SHORTEST_S)) for each in (known, ran_s))
    off = np.average(np.abs(said - real), weights=weight)
    least = np.average(np.abs(np.median(real) - real), weights=weight)
    return Ranked(
        rank=correlation(rank_of(said), rank_of(real), weight),
        explained=max(correlation(said, real, weight), 0.0) ** 2,
        error=float(off / least) if least > 0 else 1.0,
    )


def rank_window(window: Window, predictors: Iterable[str], weigh: str) -> dict[str, Ranked]:
    drawn = setting(window)
    knowledge, columns = KeptKnowledge(drawn, window), drawn.columns
    weight = columns.duration * columns.gpus if weigh == "gpu-time" else np.ones(len(columns))
    found = {}
    for name in predictors:
        stated = drawn.workload.stated_s if drawn.workload is not None else None
        predicted = stated if name == "stated" else knowledge.of(name).p50
        if predicted is not None:
            found[name] = ranked(predicted, columns.duration, weight)
    return found


def report(rows: list[tuple[Window, dict[str, Ranked]]], figure: str) -> None:
    names = list(rows[0][1])
    print(f"\n{figure:24}" + "".join(f"{name:>12}" for name in names))
    columns: dict[str, list[float]] = defaultdict(list)
    for window, found in rows:
        values = {name: getattr(each, figure) for name, each in found.items()}
        for name, value in values.items():
            columns[name].append(value)
        controls = [values[name] for name in BELOW if name in values]
        behind = figure == "rank" and values.get("semantic", 1.0) < max(controls, default=-1.0)
        cells = "".join(f"{value:12.3f}" for value in values.values())
        print(f"{window.site:20} {window.seed:3}{cells}{' !' if behind else ''}")
    print(f"{'mean':24}" + "".join(f"{np.mean(columns[name]):12.3f}" for name in names))


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--shares", default="0.5,0")
    parser.add_argument("--sites", default="", help="names, instead of the development clusters")
    parser.add_argument("--predictors", default=",".join(PREDICTORS))
    parser.add_argument("--weigh", choices=("jobs", "gpu-time"), default="jobs")
    arguments: Any = parser.parse_args()
    began = time.monotonic()
    chosen = arguments.sites.split(",") if arguments.sites else None
    sites = [
        site.name for site in all_sites() if (site.name in chosen if chosen else not site.held_out)
    ]
    for share in map(float, arguments.shares.split(",")):
        windows = [
            Window(site=site, seed=int(seed), explained=share)
            for site in sites
            for seed in arguments.seeds.split(",")
        ]
        print(f"\ncode explains {share:g}, jobs count by {arguments.weigh}")
        rows = [
            (window, rank_window(window, arguments.predictors.split(","), arguments.weigh))
            for window in windows
        ]
        for figure in ("rank", "explained", "error"):
            report(rows, figure)
    print(f"\n{time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

"""Whether it matters from which ends predictors learn.

    python -m bench.proof.in_run                             # 20 minutes of one core
    python -m bench.proof.in_run --seeds 0 --sites theta     # a trial

The other commands predict each job from the ends of the unaided run, once for all policies. A
daemon learns from the ends of the queue that it orders, in which short jobs end first. Here the
same windows are run in both ways, once each. Gain beside each policy and the 99th percentile with
over alone, geometric mean over the clusters in which jobs wait; `over` is the gain by learning
within the run over that by learning beforehand, paired by setting, with its 95 % interval over
clusters.
"""

from __future__ import annotations

import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

from bench.command import command_line, machine, progress
from bench.proof.measuring import by_cluster, geometric_mean, interval, jobs_wait
from bench.proof.predictions import KeptKnowledge, revision
from bench.proof.settings import SEEDS, Window, setting, shaken
from bench.proof.tuned_baselines import chosen
from schedmate.simulator import plan
from schedmate.simulator.experiments.run import run

PREDICTORS = ("history", "site_model", "semantic")
POLICIES = ("easy", "multifactor")
WAYS = {"beforehand": False, "within the run": True}
Key = tuple[str, str, str]
Found = dict[Key, tuple[float, float]]


def measured(window: Window) -> tuple[str, Found]:
    """By policy, predictor and way: the gain and the 99th percentile."""
    drawn = setting(window)
    knowledge, here = KeptKnowledge(drawn, window), shaken(drawn, 0)
    found: Found = {}
    for policy in POLICIES:
        ended = run(here, plan(policy), knowledge).outcome.end
        alone = ended - here.columns.submit
        if not jobs_wait(policy, here.columns, alone):
            continue
        for predictor in PREDICTORS:
            for way, within in WAYS.items():
                asked = replace(here, learns_within=within)
                aided = run(asked, plan(f"{policy}+advisor"), knowledge, predictor=predictor)
                after = aided.outcome.end - here.columns.submit
                tail = np.quantile(after, 0.99) / np.quantile(alone, 0.99)
                found[policy, predictor, way] = float(alone.mean() / after.mean()), float(tail)
    return window.site, found


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--sites", default="", help="beginnings of names, instead of all")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    began = time.monotonic()
    sites = asked.sites.split(",") if asked.sites else []
    windows = [
        Window(site=name, seed=seed, explained=asked.share)
        for name, seed in chosen(sites, asked.seeds, held_out=False)
    ]
    gains: dict[Key, list[tuple[str, float]]] = defaultdict(list)
    tails: dict[Key, list[float]] = defaultdict(list)
    ratios: dict[Key, list[tuple[str, float]]] = defaultdict(list)
    with ProcessPoolExecutor(asked.workers) as pool:
        done = pool.map(measured, windows)
        for _ in progress(windows, "settings"):
            site, found = next(done)
            for key, (gain, tail) in found.items():
                gains[key].append((site, gain))
                tails[key].append(tail)
                before = found[(*key[:2], "beforehand")][0]
                ratios[key].append((site, gain / before))
    print(f"\nshare {asked.share:g}, {len(windows)} settings, one run each")
    print(f"{'':26}{'learns':18}{'gain':>7}{'p99':>7}  over")
    for (policy, predictor, way), rows in gains.items():
        key = policy, predictor, way
        low, high = interval(by_cluster(ratios[key]))
        over = f"{geometric_mean(by_cluster(ratios[key])):.3f} ({low:.2f} to {high:.2f})"
        print(
            f"{policy + ', ' + predictor:26}{way:18}{geometric_mean(by_cluster(rows)):7.3f}"
            f"{geometric_mean(tails[key]):7.2f}  {over if WAYS[way] else ''}"
        )
    print(f"\nrevision {revision()}; {time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

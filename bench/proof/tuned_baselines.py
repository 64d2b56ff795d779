"""What tuning a baseline in its own favour takes away from SchedMate's gain.

    python -m bench.proof.tuned_baselines                         # every development cluster
    python -m bench.proof.tuned_baselines itp theta --jobs 500    # a look in a minute

Tiresias' threshold, the first queue and the growth of LAS, and the threshold of Gittins are tried
on a grid, each on the very jobs that it is compared on: the best in hindsight. Beside it is what a
site could have chosen, the best on the first half of the jobs. The last columns are the gain of
`+schedmate` over the policy by default and over its best. Settings: bench/proof/settings.py.
"""

from __future__ import annotations

import time
from collections import defaultdict

from bench.command import command_line, console, machine, progress, table
from bench.proof.measuring import geometric_mean
from bench.proof.predictions import KeptKnowledge
from bench.proof.settings import JOBS, SEEDS, Window, all_sites, setting
from bench.proof.tuning import GRIDS, average_s, best_of_grid, best_on_first_half
from schedmate.simulator import plan
from schedmate.simulator.experiments.run import run

COLUMNS = ("setting", "default", "first half", "best", "best is", "gain", "over the best")


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="beginning of a name: itp/")
    parser.add_argument("--policies", default="tiresias,las", help="of: " + ", ".join(GRIDS))
    parser.add_argument("--jobs", type=int, default=JOBS, help="of each window")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--explained", type=float, default=0.5)
    parser.add_argument("--held-out", action="store_true", help="the clusters for the end")
    asked = parser.parse_args()
    began = time.monotonic()
    rows: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    gains: dict[str, list[tuple[float, float]]] = defaultdict(list)
    settings = chosen(asked.sites, asked.seeds, held_out=asked.held_out)
    for name, seed in progress(settings, "settings"):
        window = Window(site=name, seed=seed, explained=asked.explained, jobs=asked.jobs)
        drawn = setting(window)
        knowledge = KeptKnowledge(drawn, window)
        for policy in asked.policies.split(","):
            alone = average_s(run(drawn, plan(policy), knowledge))
            earlier = average_s(run(drawn, plan(best_on_first_half(drawn, policy)), knowledge))
            best = best_of_grid(drawn, policy, knowledge)
            aided = average_s(run(drawn, plan(f"{policy}+schedmate"), knowledge))
            gains[policy].append((alone / aided, average_s(best) / aided))
            times = (f"{seconds / 3600:.2f} h" for seconds in (alone, earlier, average_s(best)))
            ratios = (f"{each:.2f}" for each in gains[policy][-1])
            rows[policy].append((f"{name}, seed {seed}", *times, best.policy, *ratios))
    show(rows, gains)
    print(f"{time.monotonic() - began:.0f} s on {machine()}")


def chosen(wanted: list[str], seeds: str, *, held_out: bool) -> list[tuple[str, int]]:
    """Names and seeds of the settings that are asked for."""
    return [
        (site.name, seed)
        for site in all_sites()
        if site.held_out == held_out
        and (not wanted or any(site.name.startswith(each) for each in wanted))
        for seed in map(int, seeds.split(","))
    ]


def show(
    rows: dict[str, list[tuple[str, ...]]], gains: dict[str, list[tuple[float, float]]]
) -> None:
    for policy, lines in rows.items():
        made = table(f"{policy}: average completion", COLUMNS)
        for line in lines:
            made.add_row(*line)
        means = [geometric_mean(column) for column in zip(*gains[policy], strict=True)]
        made.add_row("geometric mean", "", "", "", "", *(f"{mean:.2f}" for mean in means))
        console().print(made)


if __name__ == "__main__":
    main()

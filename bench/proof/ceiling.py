"""How much reading code could be worth at most in these settings.

    python -m bench.proof.ceiling                             # after bench.proof.gain: 3 minutes
    python -m bench.proof.ceiling --shares 0.5 --seeds 0 --sites theta     # a trial

`read perfectly` is a predictor that cannot be had: it knows the stated time of every job, which is
what the numbers in its code come to at the usual pace of that code, and SchedMate's prediction
without code, and joins the logarithms of both by the weights that fit these very jobs best (least
squares, in hindsight). Beside it `site_model`, `semantic` and `oracle` as elsewhere. Geometric mean
of the gain over development clusters, and the mean error (log) of predictions.
"""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np

from bench.command import command_line, machine, progress
from bench.proof.measuring import geometric_mean
from bench.proof.predictions import KeptKnowledge, revision
from bench.proof.settings import SEEDS, SHAKES, Window, setting, shaken
from bench.proof.tuned_baselines import chosen
from bench.proof.tuning import average_s
from schedmate.simulator import Setting, plan
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.run import run

READ = "read perfectly"
PREDICTORS = ("site_model", SEMANTIC, READ, "oracle")


class Perfect(KeptKnowledge):
    """Knows one more predictor."""

    def _ask(self, name: str) -> Estimates:
        if name != READ:
            return super()._ask(name)
        workload, columns = self._setting.workload, self._setting.columns
        assert workload is not None, "settings of the proof have code"
        seen = [np.log1p(workload.stated_s), np.log1p(self.of("site_model").p50)]
        rows = np.column_stack([np.ones(len(columns)), *seen])
        fitted = rows @ np.linalg.lstsq(rows, np.log1p(columns.duration), rcond=None)[0]
        return Estimates.exactly(np.maximum(np.expm1(fitted), 0.0), READ)


def gains(drawn: Setting, knowledge: Knowledge, policy: str) -> dict[str, float]:
    shakes = [shaken(drawn, number) for number in range(SHAKES)]

    def average(name: str, predictor: str = SEMANTIC) -> float:
        runs = (run(each, plan(name), knowledge, predictor=predictor) for each in shakes)
        return sum(average_s(each) for each in runs)

    alone = average(policy)
    return {each: alone / average(f"{policy}+advisor", each) for each in PREDICTORS}


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--shares", default="0.5")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--beside", default="easy,multifactor")
    parser.add_argument("--sites", default="", help="beginnings of names, instead of all")
    asked = parser.parse_args()
    began = time.monotonic()
    sites = asked.sites.split(",") if asked.sites else []
    for share in map(float, asked.shares.split(",")):
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for name, seed in progress(chosen(sites, asked.seeds, held_out=False), "settings"):
            window = Window(site=name, seed=seed, explained=share)
            drawn = setting(window)
            knowledge = Perfect(drawn, window)
            ran = np.log1p(drawn.columns.duration)
            for predictor in PREDICTORS:
                off = np.abs(np.log1p(knowledge.of(predictor).p50) - ran).mean()
                found["error", predictor].append(float(off))
            for policy in asked.beside.split(","):
                for predictor, gain in gains(drawn, knowledge, policy).items():
                    found[policy, predictor].append(gain)
        print(f"\nshare {share:g}, {len(found['error', SEMANTIC])} settings")
        print(f"{'':14}" + "".join(f"{each:>16}" for each in PREDICTORS))
        for row in ("error", *asked.beside.split(",")):
            mean = np.mean if row == "error" else geometric_mean
            print(f"{row:14}" + "".join(f"{mean(found[row, p]):16.3f}" for p in PREDICTORS))
    print(f"\nrevision {revision()}; {time.monotonic() - began:.0f} s on {machine()}")


if __name__ == "__main__":
    main()

"""What SchedMate is worth beside each policy: average completion time without over with it.

    python -m bench.accuracy.scheduling_gain                           # every trace, hours
    python -m bench.accuracy.scheduling_gain theta --beside fifo,easy  # one trace, two policies

Real traces on clusters of such a size that they are loaded to 0.7, 0.85 and 1.0; a setting counts
as contended where jobs wait for a tenth of their run time under `fifo` at least. Durations, sizes,
users and ends are the traces' own; the code of each job is ours (semi-synthetic, see
docs/explanation/synthetic-workloads.md). Predictions come from the real pipeline in order of time,
once for each trace (what had ended by then is that of the most loaded cluster), and are charged
for. `SITE` is the beginning of a name: itp/, philly, theta. Data: bench/README.md.

Beside an unmodified scheduler each gain has controls, the same orders of the same engine by other
predictions: `history` (the mean of the user's similar jobs), `constant` (every job alike) and
`noise` (the run time of a job chosen at random); `oracle` knows the truth.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.command import command_line, machine
from bench.corpora.trace_settings import LOADS, sites
from schedmate.policies import POLICIES
from schedmate.simulator import Setting, TraceColumns, plan
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import PolicyRun, run

CONTENDED = 1.1
CLAIM = 1.91
"""Of the paper: up to so many times better."""
TOLERATED = 1.1
PARTS = ("+advisor", "+schedmate")
CONTROLS: dict[str, Callable[[TraceColumns], np.ndarray] | None] = {
    "history": None,
    "constant": lambda jobs: np.full(len(jobs), np.median(jobs.duration)),
    "noise": lambda jobs: np.random.default_rng(0).permutation(jobs.duration),
    "oracle": lambda jobs: jobs.duration,
}


class Control(Knowledge):
    """Something else in the place of the advisor's predictions."""

    def __init__(self, setting: Setting, name: str) -> None:
        super().__init__(setting)
        self._name = name

    def of(self, source: str | None) -> Estimates:
        if source != "advisor":
            return super().of(source)
        control = CONTROLS[self._name]
        if control is None:
            return super().of(self._name)
        return Estimates.exactly(control(self._setting.columns), self._name)


def gain(base: PolicyRun, aided: PolicyRun, share: float | None = None) -> float:
    """How many times as long it takes without."""
    times = [each.outcome.end - each.columns.submit for each in (base, aided)]
    without, with_it = (t.mean() if share is None else np.quantile(t, share) for t in times)
    return float(without / with_it)


def line(setting: Setting, runs: dict[str, PolicyRun], policies: list[str]) -> str:
    cells = []
    for policy in policies:
        for part in PARTS:
            aided = runs[policy + part]
            tail = 1 / gain(runs[policy], aided, 0.99)
            cells.append(f"{gain(runs[policy], aided):6.2f} ({tail:4.2f})")
    head = f"{setting.name:24}{len(setting.columns):7}{setting.gpus:6}"
    return f"{head}{slowdown(setting, runs):8.1f}  {' '.join(cells)}"


def slowdown(setting: Setting, runs: dict[str, PolicyRun]) -> float:
    """Completion over run time, on average, first come, first served."""
    times = runs["fifo"].outcome.end - setting.columns.submit
    return float(times.mean() / setting.columns.duration.mean())


def measure(setting: Setting, knowledge: Knowledge, policies: list[str]) -> dict[str, PolicyRun]:
    names = ["fifo", *(policy + part for policy in policies for part in ("", *PARTS))]
    runs = {name: run(setting, plan(name), knowledge) for name in dict.fromkeys(names)}
    for policy in _unmodified(policies):
        for control in CONTROLS:
            aided = run(setting, plan(f"{policy}+advisor"), Control(setting, control))
            runs[f"{policy} by {control}"] = aided
    return runs


def _unmodified(policies: list[str]) -> list[str]:
    return [policy for policy in policies if POLICIES[policy].kind == "beside"]


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="beginning of a name: itp/")
    parser.add_argument("--beside", default="fifo,easy,qssf,tiresias,las", help="policies")
    parser.add_argument("--cache", type=Path, help="directory that keeps the predictions")
    parser.add_argument("--loads", default=",".join(map(str, LOADS)))
    arguments = parser.parse_args()
    policies = arguments.beside.split(",")
    loads = [float(load) for load in arguments.loads.split(",")]
    heads = " ".join(f"{policy + part:>13}" for policy in policies for part in PARTS)
    print(f"{'setting':24}{'jobs':>7}{'GPUs':>6}{'fifo/run':>8}  {heads}   x faster (p99 ratio)")
    gains: dict[str, list[tuple[float, float]]] = defaultdict(list)
    started = time.monotonic()
    for site in sites(arguments.sites):
        for setting in site.settings(loads, seed=0):
            runs = measure(setting, site.knowledge(setting, arguments.cache), policies)
            contended = slowdown(setting, runs) > CONTENDED
            print(line(setting, runs, policies), "" if contended else "not contended", flush=True)
            for aided in [name for name in runs if name not in policies] * contended:
                pair = runs[re.split(r"\+| by ", aided)[0]], runs[aided]
                gains[aided].append((gain(*pair), 1 / gain(*pair, 0.99)))
    summarise(gains)
    print(f"\n{time.monotonic() - started:.0f} s on {machine()}")


def summarise(gains: dict[str, list[tuple[float, float]]]) -> None:
    heads = (
        f"{'n':>4}{'geo mean':>10}{'worst':>8}{'best':>8}{'>= 1.91':>9}{'p99':>7}{'p99 > 1.1':>11}"
    )
    print(f"\n{'contended settings':24}{heads}")
    for name, pairs in gains.items():
        ratios, tails = np.array(pairs).T
        print(
            f"{name:24}{len(ratios):4}{np.exp(np.log(ratios).mean()):10.2f}{ratios.min():8.2f}"
            f"{ratios.max():8.2f}{(ratios >= CLAIM).mean():9.0%}"
            f"{np.exp(np.log(tails).mean()):7.2f}{(tails > TOLERATED).mean():11.0%}"
        )


if __name__ == "__main__":
    main()

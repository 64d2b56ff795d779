"""What lowered time limits add to the order, beside schedulers that backfill.

    python -m bench.accuracy.time_limits                     # every trace
    python -m bench.accuracy.time_limits itp/ --beside easy  # one trace, one policy

Average completion time of the control (predictions and tracker, limits as the users chose them)
over that with lowered limits. `oracle` lowers by the same rule from predictions that are exact;
`exact` has users who ask for exactly what they need, which is what perfect limits could do. The
number of runs that ended by a lowered limit is counted; it must be none. Data:
bench/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.command import command_line
from bench.corpora.trace_settings import sites
from schedmate.model import JobState
from schedmate.simulator import Setting, plan
from schedmate.simulator.estimators.base import Estimates, oracle
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.run import PolicyRun, run
from schedmate.simulator.traces.columns import STATES

CONTROL, LOWERED = "+advisor+tracker", "+advisor+tracker+limits"


class Exact(Knowledge):
    """True run times in the place of the advisor's predictions, as of runs of the same code."""

    def of(self, source: str | None) -> Estimates:
        if source != SEMANTIC:
            return super().of(source)
        columns = self._setting.columns
        return replace(oracle(columns), basis=["identical"] * len(columns))


def killed(setting: Setting, one: PolicyRun) -> int:
    """Runs that ended by a limit that was not their user's."""
    timeout = STATES.index(JobState.TIMEOUT)
    return int(
        np.count_nonzero((one.outcome.status == timeout) & (setting.columns.status != timeout))
    )


def compared(control: PolicyRun, other: PolicyRun) -> str:
    before, after = (each.outcome.end - each.columns.submit for each in (control, other))
    tail = np.quantile(after, 0.99) / np.quantile(before, 0.99)
    return f"{before.mean() / after.mean():.3f} ({tail:.2f})"


def measure(setting: Setting, known: Knowledge, policy: str) -> Sequence[str]:
    control = run(setting, plan(policy + CONTROL), known)
    lowered = run(setting, plan(policy + LOWERED), known)
    exact = Exact(setting)
    oracle_control = run(setting, plan(policy + CONTROL), exact)
    oracle_lowered = run(setting, plan(policy + LOWERED), exact)
    perfect = replace(
        setting, columns=replace(setting.columns, limit=np.maximum(setting.columns.duration, 60.0))
    )
    perfect_run = run(perfect, plan(policy + CONTROL), Exact(perfect))
    count = lowered.actions.get("set_time_limit", 0)
    return (
        f"{count / len(setting.columns):.0%}",
        compared(control, lowered),
        compared(oracle_control, oracle_lowered),
        compared(oracle_control, perfect_run),
        str(killed(setting, lowered) + killed(setting, oracle_lowered)),
    )


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sites", nargs="*", metavar="SITE", help="beginning of a name: itp/")
    parser.add_argument("--beside", default="easy,multifactor")
    parser.add_argument("--loads", default="0.85,1.0")
    parser.add_argument("--cache", type=Path, help="directory that keeps the predictions")
    arguments = parser.parse_args()
    loads = [float(load) for load in arguments.loads.split(",")]
    print("setting | policy | limits set, per job | lowered | oracle | exact | killed")
    for site in sites(arguments.sites):
        for setting in site.settings(loads, seed=0):
            known = site.knowledge(setting, arguments.cache)
            for policy in arguments.beside.split(","):
                cells = measure(setting, known, policy)
                print(f"{setting.name} | {policy} | {' | '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()

"""Which ordering of the decision engine shortens completion times most, beside a scheduler.

    python -m bench.accuracy.orderings                          # every trace
    python -m bench.accuracy.orderings theta --beside fifo,easy # one trace, two policies

Average completion time without over with SchedMate, nice numbers bounded as live, for each
ordering and for predictions that are off by a given error (standard deviation of the logarithm).
`unbounded` is what the same predictions give a scheduler that orders by them itself, without
ageing: the distance is what the bound costs. Data: bench/README.md.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from bench.command import command_line
from bench.corpora.trace_settings import sites
from schedmate.simulator import Setting, plan
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import run

ORDERINGS = ("sjf", "ssf")
CONTENDED = 1.1


def completion_s(setting: Setting, name: str, share: float | None = None) -> float:
    outcome = run(setting, plan(name), Knowledge(setting)).outcome
    times = outcome.end - setting.columns.submit
    return float(times.mean() if share is None else np.quantile(times, share))


def measure(setting: Setting, policies: list[str]) -> dict[str, float]:
    """How many times as long it takes without; empty where jobs hardly wait."""
    fifo = completion_s(setting, "fifo")
    if fifo < CONTENDED * setting.columns.duration.mean():
        return {}
    gains = {}
    for policy in policies:
        base = completion_s(setting, policy)
        for name in ORDERINGS:
            ordered = replace(setting, ordering=name)
            gains[f"{policy} {name}"] = base / completion_s(ordered, f"{policy}+advisor")
        if policy == "fifo":
            gains["fifo unbounded ssf"] = base / completion_s(setting, "ssf+advisor")
            gains["fifo unbounded sjf"] = base / completion_s(setting, "sjf+advisor")
    return gains


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("sites", nargs="*")
    parser.add_argument("--beside", default="fifo,easy,multifactor")
    parser.add_argument("--loads", default="0.85,1.0")
    parser.add_argument("--errors", default="0,0.5,1.0")
    parser.add_argument("--nice-range", type=int, help="largest nice number, as the setting")
    arguments = parser.parse_args()
    policies, loads = arguments.beside.split(","), [float(x) for x in arguments.loads.split(",")]
    found: dict[tuple[float, str], list[float]] = defaultdict(list)
    for site in sites(arguments.sites):
        for setting in site.settings(loads, seed=0):
            for error in map(float, arguments.errors.split(",")):
                chosen = replace(setting, error=error, nice_range=arguments.nice_range)
                gains = measure(chosen, policies)
                shown = "  ".join(f"{name} {gain:.2f}" for name, gain in gains.items())
                print(f"{setting.name:24} error {error:g}: {shown or 'not contended'}", flush=True)
                for name, gain in gains.items():
                    found[error, name].append(gain)
    print("\ngeometric mean (worst) of", len(next(iter(found.values()), [])), "contended settings")
    for (error, name), measured in sorted(found.items()):
        mean = float(np.exp(np.log(measured).mean()))
        print(f"error {error:<4g} {name:22} {mean:5.2f} ({min(measured):.2f})")


if __name__ == "__main__":
    main()

"""What the scale of nice numbers is worth: from which cost of a job to which they tell jobs apart.

    python -m bench.proof.nice_scale
    python -m bench.proof.nice_scale --seeds 0 --sites theta --jobs 200 --workers 1    # a trial

A nice number is the logarithm of a job's predicted cost between the scale's ends. Each scale orders
by the true run times, so that nothing but the scale differs, beside `easy` and `multifactor` in the
settings of bench/proof/settings.py: the gain in average completion time over the policy alone, with
the 95 % interval over clusters, the same over the default scale in the same setting, and the 99th
percentile with over without. `sjf` is by run time alone, `root` by run time times the root of GPUs,
`range 3x` is the default scale with three times as many numbers as the policy undoes by ageing.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from unittest.mock import patch

import numpy as np

from bench.command import command_line, console, machine, table
from bench.proof.measuring import by_cluster, geometric_mean, interval
from bench.proof.settings import JOBS, SEEDS, SHAKES, WAITS, Window, all_sites, setting, shaken
from schedmate.policies import DEFAULT_ORDERING, POLICIES, Candidate
from schedmate.policies.orderings import ORDERINGS
from schedmate.policies.orderings.base import SHORTEST_S
from schedmate.simulator import Setting, plan
from schedmate.simulator.experiments.knowledge import Knowledge
from schedmate.simulator.experiments.run import run

DEFAULT = "default"
_MINUTE_S, _WEEK_S = 60.0, 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Scale:
    """Fulfils `Ordering`: costs between two ends, in seconds times GPUs to some power."""

    name: str
    shortest: float
    last: float
    power: float = 1.0

    @property
    def longest(self) -> float:
        return self.last * SHORTEST_S / self.shortest

    def cost(self, candidate: Candidate) -> float | None:
        """As if the scale began where that of the product does: only the ratio counts."""
        expected = candidate.expected_s
        if expected is None:
            return None
        gpus = math.pow(max(1, candidate.job.request.gpus), self.power)
        return expected * gpus * SHORTEST_S / self.shortest


SCALES = (
    Scale("10 s to a month on 64 GPUs", 10.0, 30 * 86_400.0 * 64),
    Scale("1 minute to 2 GPU weeks", _MINUTE_S, 2 * _WEEK_S),
    Scale("1 minute to 8 GPU weeks", _MINUTE_S, 8 * _WEEK_S),
    Scale("10 minutes to 2 GPU weeks", 10 * _MINUTE_S, 2 * _WEEK_S),
    Scale("10 minutes to 8 GPU weeks", 10 * _MINUTE_S, 8 * _WEEK_S),
    Scale("root: 5 minutes to 2 weeks", 5 * _MINUTE_S, 2 * _WEEK_S, 0.5),
    Scale("sjf: 5 minutes to a week", 5 * _MINUTE_S, _WEEK_S, 0.0),
)
WIDER = {"range 3x": 3}
Figures = tuple[str, str, str, float, float]
"""Of one setting: its cluster, the policy, the scale, the gain and p99 with over without."""


def measured(window: Window, policies: tuple[str, ...]) -> list[Figures]:
    drawn = setting(window)
    with patch.dict(ORDERINGS, {scale.name: partial(_same, scale) for scale in SCALES}):
        return [one for policy in policies for one in _of_policy(drawn, window.site, policy)]


def _same(scale: Scale) -> Scale:
    return scale


def _of_policy(drawn: Setting, site: str, policy: str) -> Iterator[Figures]:
    knowledge = Knowledge(drawn)
    shakes = [shaken(drawn, number) for number in range(SHAKES)]
    alone = [_completion_s(each, policy, knowledge) for each in shakes]
    ran = drawn.columns.duration.mean()
    if np.mean(alone) - ran < WAITS * ran:
        return
    for name, here in _scaled(drawn, policy).items():
        moved = (replace(here, columns=each.columns) for each in shakes)
        aided = [_completion_s(each, f"{policy}+advisor", knowledge) for each in moved]
        tails = [np.mean([np.quantile(each, 0.99) for each in runs]) for runs in (alone, aided)]
        yield site, policy, name, float(np.mean(alone) / np.mean(aided)), float(tails[1] / tails[0])


def _scaled(drawn: Setting, policy: str) -> dict[str, Setting]:
    most = POLICIES[policy]().at_site(drawn.site).nice_range
    return {
        DEFAULT: replace(drawn, ordering=DEFAULT_ORDERING),
        **{scale.name: replace(drawn, ordering=scale.name) for scale in SCALES},
        **{name: replace(drawn, nice_range=times * most) for name, times in WIDER.items()},
    }


def _completion_s(here: Setting, planned: str, knowledge: Knowledge) -> np.ndarray:
    done = run(here, plan(planned), knowledge, predictor="oracle")
    return np.asarray(done.outcome.end - done.columns.submit)


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--beside", default="easy,multifactor")
    parser.add_argument("--sites", default="", help="names, instead of the rule")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    began, wanted = time.monotonic(), asked.sites.split(",")
    windows = [
        Window(site=site.name, seed=seed, jobs=asked.jobs)
        for seed in map(int, asked.seeds.split(","))
        for site in all_sites()
        if (site.name in wanted if asked.sites else not site.held_out)
    ]
    policies = tuple(asked.beside.split(","))
    found: dict[tuple[str, str], list[tuple[str, float, float]]] = defaultdict(list)
    with ProcessPoolExecutor(asked.workers) as pool:
        for rows in pool.map(partial(measured, policies=policies), windows):
            for site, policy, scale, gain, tail in rows:
                found[policy, scale].append((site, gain, tail))
    for policy in policies:
        show(policy, {scale: each for (of, scale), each in found.items() if of == policy})
    print(f"{time.monotonic() - began:.0f} s on {machine()}")


def show(policy: str, found: dict[str, list[tuple[str, float, float]]]) -> None:
    usual = [gain for _, gain, _ in found.get(DEFAULT, [])]
    made = table(
        f"{policy}: {len(usual)} settings", ("scale", "gain", "over the default scale", "p99")
    )
    for scale, rows in found.items():
        gains = by_cluster((site, gain) for site, gain, _ in rows)
        over = by_cluster(
            (site, gain / first) for (site, gain, _), first in zip(rows, usual, strict=True)
        )
        tail = math.exp(float(np.mean([math.log(tail) for *_, tail in rows])))
        made.add_row(scale, _with_interval(gains), _with_interval(over), f"{tail:.3f}")
    console().print(made)


def _with_interval(clusters: list[float]) -> str:
    low, high = interval(clusters)
    return f"{geometric_mean(clusters):.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()

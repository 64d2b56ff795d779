"""The settings of the proof, by rules.

Rules 1 to 3 and 5 were written down before any figure was looked at. The loads of rule 4 were
raised once (from 0.8, 1.0 and 1.25), with the slowdown of `easy` and the gains of `constant` and
`oracle` on development clusters in view; the windows were shortened to 300 jobs for the time they
take.

1. Clusters: every cluster or virtual cluster with at least 1,000 jobs of the five public traces
   that name submission, run time and GPUs of each job (ms_itp_2021, philly_2017_jobs,
   philly_15k_status, helios_15k_status, alcf_thetagpu); traces of several clusters are split.
2. Of these, in order of their names, every second one (the first, the third, ...) is for
   development; the others are held out and are read once, at the end.
3. A seed is a window: seed k of five begins at the k-th fifth of the cluster's jobs that leaves
   room for it, and draws the synthetic workload (and limits, where a trace has none) anew.
4. Load is measured where the jobs are: the GPUs that jobs would hold if none waited, averaged over
   the moments of submission, over the GPUs of the cluster. A cluster has as many GPUs as make this
   1.25 (the table: 1.0, 1.25 and 1.5), at least those of the largest job. At 1.25
   the median setting takes twice the run time from submission to end.
5. A setting counts in the means of a policy if jobs wait under that policy alone: on average for a
   tenth of their average run time at least. All others are listed, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bench.datasets import data_dir
from schedmate.core import FairnessLimits
from schedmate.simulator import Setting, TraceColumns, columns_of, read_trace
from schedmate.simulator.experiments.setting import with_limits
from schedmate.simulator.synthetic import draw_workload

FILES = {
    "helios-15k": "helios_15k_status",
    "itp": "ms_itp_2021",
    "philly": "philly_2017_jobs",
    "philly-15k": "philly_15k_status",
    "theta": "alcf_thetagpu",
}
SPLIT = ("itp", "philly")
LEAST_JOBS = 1000
SEEDS = (0, 1, 2, 3, 4)
LOADS = (1.0, 1.25, 1.5)
MAIN_LOAD = 1.25
WAITS = 0.1
"""Of the average run time that jobs wait on average where a setting counts."""


@dataclass(frozen=True, slots=True)
class Site:
    name: str
    held_out: bool


@lru_cache(maxsize=1)
def _traces() -> dict[str, TraceColumns]:
    return dict(sorted(_clusters()))


def _clusters() -> Iterator[tuple[str, TraceColumns]]:
    for name, file in FILES.items():
        columns = columns_of(read_trace(data_dir() / "traces" / f"{file}.csv.gz").jobs)
        if name not in SPLIT:
            yield name, columns
            continue
        for code, word in enumerate(columns.group.words):
            chosen = columns.group.codes == code
            if np.count_nonzero(chosen) >= LEAST_JOBS:
                yield f"{name}/{word}", columns.take(chosen)


def all_sites() -> list[Site]:
    return [Site(name, number % 2 == 1) for number, name in enumerate(_traces())]


def window(site: str, seed: int, jobs: int) -> TraceColumns:
    """The jobs of a seed, as many as there are."""
    columns = _traces()[site]
    count = min(jobs, len(columns))
    first = (len(columns) - count) * seed // max(len(SEEDS) - 1, 1)
    return with_limits(columns.take(np.arange(first, first + count)), seed=seed)


def demand_at_submissions(columns: TraceColumns) -> float:
    """GPUs held if none waited, averaged over the moments at which jobs are submitted."""
    times = np.concatenate([columns.submit, columns.submit + columns.duration])
    more = np.concatenate([columns.gpus, -columns.gpus]).astype(float)
    order = np.lexsort((more, times))
    held = np.cumsum(more[order])
    return float(held[np.searchsorted(times[order], columns.submit, side="right") - 1].mean())


def setting(
    site: str,
    *,
    seed: int,
    explained: float,
    jobs: int,
    load: float = MAIN_LOAD,
    fairness: FairnessLimits | None = None,
) -> Setting:
    columns = window(site, seed, jobs)
    gpus = max(int(columns.gpus.max()), math.ceil(demand_at_submissions(columns) / load))
    workload = draw_workload(columns, seed=seed, explained=explained)
    return Setting(
        name=site,
        columns=workload.visible_columns(columns),
        gpus=gpus,
        workload=workload,
        seed=seed,
        fairness=fairness or FairnessLimits(),
    )

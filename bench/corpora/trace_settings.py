"""Real traces on clusters of such a size that they are contended."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from bench.datasets import data_dir
from schedmate.simulator import Setting, TraceColumns, columns_of, gpus_for_load, read_trace
from schedmate.simulator.estimators.base import Estimates
from schedmate.simulator.experiments.knowledge import SEMANTIC, Knowledge
from schedmate.simulator.experiments.setting import with_limits
from schedmate.simulator.synthetic import SyntheticWorkload, draw_workload

LOADS = (0.7, 0.85, 1.0)
LEAST_JOBS = 500
FILES = {
    "itp": "ms_itp_2021",
    "philly": "philly_2017_jobs",
    "philly-15k": "philly_15k_status",
    "helios-15k": "helios_15k_status",
    "theta": "alcf_thetagpu",
}
SPLIT = ("itp", "philly")
"""Traces of several clusters: each is a setting of its own."""


@dataclass(frozen=True, eq=False)
class Site:
    """The jobs of one cluster, with limits and workload."""

    name: str
    columns: TraceColumns

    def knowledge(self, setting: Setting, folder: Path | None) -> Knowledge:
        return CachedKnowledge(setting, self, folder)

    def settings(self, loads: list[float], seed: int) -> list[Setting]:
        """A cluster that holds the largest job may be too large for a load: each size once."""
        each = [self.setting(load, seed) for load in loads]
        return list({setting.gpus: setting for setting in reversed(each)}.values())[::-1]

    def setting(self, load: float, seed: int) -> Setting:
        workload = _workload(self, seed)
        return Setting(
            name=f"{self.name} at {load:g}",
            columns=workload.visible_columns(self.columns),
            gpus=gpus_for_load(self.columns, load),
            workload=workload,
            seed=seed,
        )


def sites(wanted: list[str]) -> Iterator[Site]:
    for name, file in FILES.items():
        path = data_dir() / "traces" / f"{file}.csv.gz"
        if wanted and not any(name.startswith(each.split("/")[0]) for each in wanted):
            continue
        if not path.exists():
            print(f"{name}: {path.name} is not here, see SCHEDMATE_DATA")
            continue
        columns = with_limits(columns_of(read_trace(path).jobs), seed=0)
        for site in _parts(name, columns):
            if not wanted or any(site.name.startswith(each) for each in wanted):
                yield site


def _parts(name: str, columns: TraceColumns) -> Iterator[Site]:
    if name != "itp":
        yield Site(name, columns)
    if name in SPLIT:
        for code, word in enumerate(columns.group.words):
            chosen = columns.group.codes == code
            if np.count_nonzero(chosen) >= LEAST_JOBS:
                yield Site(f"{name}/{word}", columns.take(chosen))


class CachedKnowledge(Knowledge):
    """Predictions take minutes for a large trace: made once for a trace, from what had ended on the
    most loaded cluster, and kept on disk where a directory is given."""

    def __init__(self, setting: Setting, site: Site, folder: Path | None) -> None:
        super().__init__(setting)
        self._site, self._seed, self._folder = site, setting.seed, folder

    def of(self, source: str | None) -> Estimates:
        if source != SEMANTIC:
            return super().of(source)
        kept = None if self._folder is None else self._folder / f"{self._key()}.pickle"
        if kept is None:
            return self._predictions()
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(self._predictions()))
        stored: Estimates = pickle.loads(kept.read_bytes())
        return stored

    def _predictions(self) -> Estimates:
        return _predictions(self._site, self._seed)

    def _key(self) -> str:
        return sha256(f"{self._site.name} {self._seed}".encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _workload(site: Site, seed: int) -> SyntheticWorkload:
    return draw_workload(site.columns, seed=seed)


@lru_cache(maxsize=1)
def _predictions(site: Site, seed: int) -> Estimates:
    return Knowledge(site.setting(max(LOADS), seed)).of(SEMANTIC)

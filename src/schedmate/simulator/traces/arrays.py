"""Traces as columns at once, for a million jobs: without an object a job."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from schedmate.simulator.traces import read_trace
from schedmate.simulator.traces.columns import STATES, Coded, TraceColumns, columns_of
from schedmate.simulator.traces.drawing import draw
from schedmate.simulator.traces.synthetic import (
    DEFAULT_PROFILE,
    GPUS_A_NODE,
    name_of_series,
    profile_named,
)


def read_columns(path: Path) -> TraceColumns:
    return columns_of(read_trace(path).jobs)


def synthetic_columns(
    jobs: int, *, gpus: int, load: float = 0.9, seed: int = 0, like: str = DEFAULT_PROFILE
) -> TraceColumns:
    """The same jobs as those of `synthetic`."""
    profile = profile_named(like)
    drawn = draw(profile, jobs, gpus=gpus, load=load, rng=np.random.default_rng(seed))
    states = np.array([STATES.index(ending.state) for ending in profile.endings])
    people, user = _first_come(drawn.user)
    groups, group = _first_come(drawn.user % profile.groups)
    series, name = _first_come(drawn.series)
    return TraceColumns(
        ids=[str(number) for number in range(1, jobs + 1)],
        submit=drawn.submit,
        duration=drawn.duration,
        gpus=drawn.gpus,
        status=states[drawn.ending],
        limit=drawn.limit,
        nodes=-(-drawn.gpus // GPUS_A_NODE),
        user=Coded(user, tuple(f"user{number}" for number in people)),
        group=Coded(group, tuple(f"vc{number}" for number in groups)),
        name=Coded(name, tuple(name_of_series(number) for number in series)),
        gpu_type=Coded(np.zeros(jobs, dtype=np.int64), ("",)),
    )


def _first_come(numbers: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The different numbers in order of appearance, and for each place which of them it is."""
    found, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return found[order].tolist(), rank[place]

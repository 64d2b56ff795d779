"""How durations change with what jobs state: what we believe before there is any history.

Everything is about logarithms: twice the GPUs take `2 ** slope` of the time. History moves these
beliefs (`pairs.py`), the matches of one job move them again (`kriging.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from schedmate.advisor.predict.runs import PLACE, QUANTITIES, TRAITS, Columns, Floats
from schedmate.model.sketch import word_hash

Ending = Literal["steps", "epochs", "open"]
"""What a run's length is stated in; `open`: in nothing, it ends when something is reached."""


@dataclass(frozen=True, slots=True)
class Slope:
    """An exponent, how sure we are of it, and how much it differs from workload to workload."""

    mean: float
    sd: float
    varies: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """`rough` is by how much (variance) two jobs differ that are one apart in a quantity."""

    slopes: dict[Ending, tuple[Slope, ...]]
    rough: tuple[float, ...]
    unlike: tuple[float, ...]
    """By how much (variance) two jobs differ that differ in one of the `TRAITS`."""
    noise: float = 0.01
    """Variance between configurations that nothing tells apart."""
    repeat: float = 0.01
    """Variance between runs of one configuration."""
    no_match_below: float = 0.2
    """Similarity at which a match says no more than the site's other jobs do."""
    learnt_from: int = 0


def _slopes(**known: tuple[float, float]) -> tuple[Slope, ...]:
    usual = {
        "gpus": (-0.8, 0.15),
        "nodes": (0.0, 0.2),
        "model_parameters": (0.7, 0.3),
        "flops": (-0.5, 0.1),
        "bandwidth": (-0.5, 0.1),
        "unlinked": (0.0, 0.3),
        "year": (-0.05, 0.05),
    } | known
    return tuple(
        Slope(mean, sd, sd / 2)
        for mean, sd in (usual.get(name, (0.0, 0.02)) for name in QUANTITIES)
    )


_LAW = 1e-4
"""Twice the steps take twice the time, whatever those who change code and steps at once suggest."""
_ROUGH = {"unlinked": 0.05, "steps": _LAW, "epochs": _LAW}
_UNLIKE = {
    "model": 1.0,
    "dataset": 0.5,
    "entry_point": 0.3,
    "task": 0.5,
    "user": 0.1,
    "name": 0.1,
    "code": 0.1,
}
PRIOR = Scaling(
    slopes={
        "steps": _slopes(
            steps=(1.0, _LAW), batch=(0.8, 0.2), sequence_length=(0.8, 0.3), n_layer=(0.0, 0.2)
        ),
        "epochs": _slopes(epochs=(1.0, _LAW), batch=(0.0, 0.2), sequence_length=(0.4, 0.3)),
        "open": _slopes(batch=(0.0, 0.2), sequence_length=(0.4, 0.3)),
    },
    rough=tuple(_ROUGH.get(name, 0.02) for name in QUANTITIES),
    unlike=tuple(_UNLIKE.get(name, 0.05) for name in TRAITS),
)


_BY_ARITHMETIC = {
    **dict.fromkeys(("language_modeling", "translation", "summarization"), 0.8),
    **dict.fromkeys(("sequence_classification", "speech", "diffusion"), 0.65),
    **dict.fromkeys(("image_classification", "object_detection", "segmentation", "gan"), 0.3),
    **dict.fromkeys(("recommendation", "graph", "tabular"), 0.2),
}
"""Of an accelerator's speed at such a task, the part that comes from its arithmetic; the rest comes
from its memory. Products of large matrices are bound by the one; convolutions between
normalisations, and look-ups in tables, by the other (the roofline model)."""
_EITHER = 0.5
_SHARES = {word_hash(task): share for task, share in _BY_ARITHMETIC.items()}
_TASK = TRAITS.index("task")


def slopes_of_task(columns: Columns) -> Floats:
    """What to add to the slopes for jobs that are all of one task; nothing where they differ."""
    added = np.zeros(len(QUANTITIES))
    tasks = columns.traits[:, _TASK]
    if len(tasks) and (tasks == tasks[0]).all():
        more = _SHARES.get(int(tasks[0]), _EITHER) - _EITHER
        added[PLACE["flops"]], added[PLACE["bandwidth"]] = -more, more
    return added


def with_slopes(scaling: Scaling, ending: Ending, slopes: tuple[Slope, ...]) -> Scaling:
    return replace(scaling, slopes=scaling.slopes | {ending: slopes})

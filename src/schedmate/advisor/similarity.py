"""How alike two workloads are, from 0 to 1, field by field."""

from __future__ import annotations

import math
import re
from typing import Any

from schedmate.model import PastRun, Workload

_WORDS = {
    "model": 3.0,
    "dataset": 2.0,
    "entry_point": 1.5,
    "framework": 1.0,
    "task": 1.0,
    "optimizer": 0.5,
    "precision": 0.5,
    "parallelism": 0.5,
}
_NUMBERS = {
    "d_model": 1.0,
    "n_layer": 1.0,
    "sequence_length": 1.0,
    "batch_size": 1.0,
    "gradient_accumulation": 0.5,
    "gpus": 1.0,
}
_NAME_WEIGHT = 2.0
_ONE_SIDED = 0.5
_LEAST_IN_COMMON = 3.0
"""Below this much shared weight two jobs have too little in common to be compared."""


def similarity(
    workload: Workload, user: str, name: str, run: PastRun, *, least: float = _LEAST_IN_COMMON
) -> float:
    """Length (epochs, steps) is left out on purpose: it is scaled, not compared.

    A job's name says something only about jobs of the same user.
    """
    total = common = alike = 0.0
    for field, weight in (*_WORDS.items(), *_NUMBERS.items()):
        mine, theirs = value_of(workload, field), value_of(run.workload, field)
        if mine is None and theirs is None:
            continue
        if mine is None or theirs is None:
            total += weight * _ONE_SIDED
            continue
        total += weight
        common += weight
        alike += weight * _likeness(mine, theirs)
    if run.job.user == user:
        total += _NAME_WEIGHT
        common += _NAME_WEIGHT
        alike += _NAME_WEIGHT * (_stem(name) == _stem(run.job.name))
    return alike / total if total and common >= least else 0.0


def value_of(workload: Workload, field: str) -> Any:
    finding = getattr(workload, field)
    return None if finding is None else finding.value


def _likeness(mine: Any, theirs: Any) -> float:
    if isinstance(mine, str):
        return float(mine.lower() == str(theirs).lower())
    if mine <= 0 or theirs <= 0:
        return float(mine == theirs)
    return math.exp(-abs(math.log(mine / theirs)))


def _stem(name: str) -> str:
    """`train-12`, `train_v3.sh` and `train` are one name."""
    return re.sub(r"\.(?:sh|py|slurm|sbatch)$|[\W_]*v?\d+", "", name.lower())

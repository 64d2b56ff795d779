"""Why jobs that ended early did, consistent with how the trace says they ended.

Shares after what Acme and Philly published: most failures are users' errors and come early,
faults of the infrastructure are one in nine but cost most of the lost time.
"""

from __future__ import annotations

import numpy as np

from schedmate.model import JobState
from schedmate.simulator.traces.columns import STATES, Coded, Floats, Ints, TraceColumns

_USERS = {
    "file_not_found": 0.16,
    "type_error": 0.1,
    "value_error": 0.1,
    "key_error": 0.08,
    "import_error": 0.1,
    "attribute_error": 0.09,
    "assertion_error": 0.06,
    "argument_error": 0.07,
    "name_error": 0.05,
    "syntax_error": 0.04,
    "permission_denied": 0.04,
    "shape_mismatch": 0.06,
    "index_error": 0.05,
}
_FRAMEWORK = {
    "gpu_oom": 0.45,
    "loss_nan": 0.1,
    "cuda_error": 0.12,
    "dataloader_killed": 0.1,
    "disk_quota": 0.08,
    "checkpoint_mismatch": 0.08,
    "hang": 0.07,
}
_INFRASTRUCTURE = {
    "nccl_timeout": 0.28,
    "gpu_ecc": 0.17,
    "gpu_lost": 0.15,
    "node_failure": 0.15,
    "storage_io": 0.12,
    "network": 0.08,
    "nvlink": 0.05,
}
_CANCELLED = {"cancelled": 0.88, "hang": 0.07, "loss_nan": 0.05}
_TIMEOUT = {"time_limit": 0.96, "hang": 0.04}
_BY_STATE = {
    JobState.CANCELLED: _CANCELLED,
    JobState.TIMEOUT: _TIMEOUT,
    JobState.NODE_FAIL: {"node_failure": 1.0},
    JobState.OUT_OF_MEMORY: {"host_oom": 1.0},
    JobState.PREEMPTED: {"preempted": 1.0},
}
_EARLY_S = 300.0
_LEAST, _PER_DECADE, _MOST = 0.02, 0.16, 0.6
"""Of failures within five minutes that are the infrastructure's; more with every decade of time."""
_NOT_USERS = 0.3
"""Of the other failures that are the framework's."""
_SLOW = ("hang", "loss_nan")
_TIMEOUT_S = (600.0, 1800.0)
"""Between which NCCL's watchdog waits."""


def reasons(columns: TraceColumns, rng: np.random.Generator) -> Coded:
    chances = rng.random(len(columns))
    names = np.full(len(columns), "not_failed", dtype=object)
    for state, shares in _BY_STATE.items():
        _draw(names, columns.status == STATES.index(state), shares, chances)
    failed = columns.status == STATES.index(JobState.FAILED)
    decades = np.log10(np.maximum(columns.duration, 1.0) / _EARLY_S)
    broken = np.clip(_LEAST + _PER_DECADE * decades, _LEAST, _MOST)
    whose = rng.random(len(columns))
    framework = whose < broken + (1 - broken) * _NOT_USERS
    _draw(names, failed & (whose < broken), _INFRASTRUCTURE, chances)
    _draw(names, failed & (whose >= broken) & framework, _FRAMEWORK, chances)
    _draw(names, failed & ~framework, _USERS, chances)
    return Coded.of(names.tolist())


def _draw(names: np.ndarray, which: np.ndarray, shares: dict[str, float], chances: Floats) -> None:
    ahead = np.cumsum(list(shares.values()))
    places = np.searchsorted(ahead, chances[which] * ahead[-1])
    names[which] = np.array(list(shares), dtype=object)[np.minimum(places, len(shares) - 1)]


def hung_s(columns: TraceColumns, reason: Coded, rng: np.random.Generator) -> Floats:
    """What of the run was for nothing at its end: hung, waiting for a time-out, or with NaN."""
    share = rng.uniform(0.1, 0.8, len(columns)) * columns.duration
    waited = np.minimum(rng.uniform(*_TIMEOUT_S, len(columns)), 0.9 * columns.duration)
    slow, waits = (_is(reason, each) for each in (_SLOW, ("nccl_timeout",)))
    return np.asarray(np.where(slow, share, np.where(waits, waited, 0.0)))


def _is(reason: Coded, names: tuple[str, ...]) -> np.ndarray:
    codes: Ints = np.array([reason.words.index(each) for each in names if each in reason.words])
    return np.isin(reason.codes, codes)

"""What the jobs of a trace let be done to them: which resume, which may share a GPU, which are
doomed. Shares are assumed, and drawn by code: runs of one code resume all or not at all.

What is known of it is not assumed: that a code resumes is known once one of its runs was seen to go
on, and what it needs of a GPU once one of its runs has ended, here or in the past of the window.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from schedmate.model import BadInput
from schedmate.simulator.synthetic.workload import SyntheticWorkload
from schedmate.simulator.traces.columns import Floats, Ints, TraceColumns

CHECKPOINT_S = 1800.0
"""Between checkpoints of a job whose own are unknown."""
RESTART_S = 120.0
_MEASURED_S = 600.0
"""A run so long shows what its code needs of a GPU."""
_MEMORY, _UTILIZATION = 0.3, 0.35
"""Of a job that may share, where nothing else is known."""
_PACES = (0.76, 1.0)
"""Of each of two jobs that share: the mean, 0.88, is that of the pairs of Gavel's jobs on V100s in
which both keep 0.7 of their pace or more."""
_SLOW_PAIRS, _SLOW_PACE = 0.05, 0.5
"""Pairs that slow each other down though neither was measured to need much. Assumed."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levers:
    """Shares of jobs; 0: the lever is not used."""

    resumable: float = 0.0
    """Go on by themselves from their last checkpoint."""
    shareable: float = 0.0
    """Need less than half of a GPU."""
    doomed: float = 0.0
    """Show a sure sign, in the middle of their run, that it will come to nothing."""
    proven: float = 0.5
    """Runs of a resumable code, longer than its checkpoints are apart, that another run was seen
    to go on from."""
    opted_in: float = 1.0
    """Users who let their jobs make way and share."""
    saved: float = 0.5
    """Of a doomed run, what lies behind the sign."""
    blind: bool = False
    """A control: runs are stopped at any moment, and lose what they did since their checkpoint."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not 0 <= value <= 1:
                raise BadInput(f"{each.name} is a share from 0 to 1, not {value:g}")

    def __bool__(self) -> bool:
        return bool(self.resumable or self.shareable or self.doomed)


NO_LEVERS = Levers()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JobLevers:
    """Of the jobs of a window, a column each."""

    code: Ints
    resumable: Bools
    every_s: Floats
    """Seconds of work between two checkpoints; 0 where it writes none."""
    shareable: Bools
    memory: Floats
    utilization: Floats
    sign_s: Floats
    """Seconds of work after which it is known to be doomed; infinite where it is not."""
    consents: Bools
    proves: Bools
    """Whether it was seen that another run went on from this one."""
    seen: Counter[int]
    """By code: restarts that went on, before the window."""
    measured: frozenset[int]
    """Codes of which a run was measured before the window."""
    seed: int

    def pace(self, job: int, other: int) -> float:
        """Beside another one; the same whenever these two meet."""
        pair = sorted((int(self.code[job]), int(self.code[other])))
        rng = np.random.default_rng([self.seed, *pair])
        if rng.random() < _SLOW_PAIRS:
            return _SLOW_PACE
        return float(rng.uniform(*_PACES))


def draw_levers(
    levers: Levers,
    columns: TraceColumns,
    workload: SyntheticWorkload | None,
    past: tuple[TraceColumns, SyntheticWorkload | None] | None,
    *,
    seed: int,
) -> JobLevers:
    """`past` are the jobs before the window and behind them those of the window, where there are
    any before."""
    all_columns, all_workload = (columns, workload) if past is None else past
    before = len(all_columns) - len(columns)
    code = codes_of(all_columns, all_workload)
    rng = np.random.default_rng([seed, len(all_columns), 5])
    resumable = _drawn(code, levers.resumable, rng)
    shareable = _drawn(code, levers.shareable, rng)
    opted = _drawn(all_columns.user.codes, levers.opted_in, rng)
    doomed = rng.random(len(code)) < levers.doomed
    duration = all_columns.duration
    every = np.full(len(code), CHECKPOINT_S)
    if all_workload is not None:
        own = all_workload.checkpoint_every_s
        every = np.where(own > 0, own, np.where(resumable, CHECKPOINT_S, 0.0))
    proves = resumable & (duration >= every) & (rng.random(len(code)) < levers.proven)
    here = np.arange(before, len(code))
    earlier = np.arange(before)
    return JobLevers(
        code=code[here],
        resumable=resumable[here],
        every_s=every[here],
        shareable=shareable[here],
        memory=np.full(len(here), _MEMORY),
        utilization=np.full(len(here), _UTILIZATION),
        sign_s=np.where(doomed, (1.0 - levers.saved) * duration, np.inf)[here],
        consents=opted[here],
        proves=proves[here],
        seen=Counter(code[earlier[proves[earlier]]].tolist()),
        measured=frozenset(code[earlier[duration[earlier] >= _MEASURED_S]].tolist()),
        seed=seed,
    )


def codes_of(columns: TraceColumns, workload: SyntheticWorkload | None) -> Ints:
    """A number for each: the owner and the copy of a project, edits not counted; without a
    workload, owner and name."""
    if workload is None:
        parts = [columns.user.codes, columns.name.codes]
    else:
        drawn = workload.submission
        parts = [columns.user.codes, drawn.project, drawn.copy]
    return np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1].reshape(-1)


def is_measured(ran_s: float) -> bool:
    return ran_s >= _MEASURED_S


def _drawn(groups: Ints, share: float, rng: np.random.Generator) -> Bools:
    """Whole groups, until they are such a share of the jobs as nearly as can be."""
    jobs = np.bincount(groups)
    order = rng.permutation(len(jobs))
    reached = np.cumsum(jobs[order]) - jobs[order] / 2
    chosen = np.zeros(len(jobs), dtype=bool)
    chosen[order] = reached < share * len(groups)
    return chosen[groups]

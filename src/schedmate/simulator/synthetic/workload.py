"""A synthetic workload: what the jobs of a trace might have been, and which part of it may be
known.

Where the assumed figures come from: docs/explanation/synthetic-workloads.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from schedmate.model import BadInput
from schedmate.simulator.synthetic.projects import Project, bank
from schedmate.simulator.traces.columns import Coded, Floats, Ints, TraceColumns

_SHARES = (
    *("explained", "resubmission", "edits", "edits_after_failure", "telling_edits"),
    *("batch_changes", "own_copies", "unread", "wrong_records"),
)
_SILENT = ("hang", "nccl_timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Shares are of jobs unless they say otherwise. Where figures come from:
    docs/explanation/synthetic-workloads.md."""

    explained: float = 0.45
    """Of the variance of log run times that the numbers in the code explain; the rest is chance."""
    resubmission: float = 0.9
    """Jobs of users with projects that are one of those again."""
    edits: float = 0.2
    """Resubmissions before which the code was edited."""
    edits_after_failure: float = 0.6
    """The same, where the run before failed."""
    telling_edits: float = 0.3
    """Edits that make it faster or slower."""
    edit_spread: float = 0.35
    """By how much (standard deviation of the logarithm)."""
    batch_changes: float = 0.1
    """Resubmissions with half or twice the batch."""
    own_copies: float = 0.8
    """Users' projects whose code no other user has."""
    copy_spread: float = 0.6
    """By how much copies of one project differ in speed: other data, other hardware."""
    unread: float = 0.15
    """Copies of which the reader does not find the length."""
    wrong_records: float = 0.02
    """Jobs whose record states a wrong length."""

    def __post_init__(self) -> None:
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(f"{name} is a share from 0 to 1, not {getattr(self, name):g}")


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticSubmission:
    """What SchedMate sees at a job's submission beyond what any scheduler does: its directory and
    command line. A baseline is never handed this."""

    project: Ints
    """Index into the bank."""
    copy: Ints
    """Whose code it is: 0 is the bank's own, which several users have."""
    version: Ints
    """How often that code was edited."""
    length: Floats
    """Epochs or steps on the command line."""
    batch: Floats
    rate: Floats
    read_length: Floats
    """What the reader makes of it: `nan` where it finds none, another where it is wrong."""

    def take(self, which: Ints) -> SyntheticSubmission:
        """Of some of the jobs."""
        return SyntheticSubmission(*(getattr(self, each.name)[which] for each in fields(self)))

    def project_of(self, job: int) -> Project:
        return bank()[int(self.project[job])]

    def arguments(self, job: int) -> tuple[str, ...]:
        return self.project_of(job).arguments(self.length[job], self.batch[job], self.rate[job])

    def files(self, job: int) -> dict[str, str]:
        return self.project_of(job).files_of(int(self.copy[job]), int(self.version[job]))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SyntheticWorkload:
    """Schedulers may see `names`, SchedMate `submission` as well; all else is true of the simulated
    world alone."""

    names: Coded
    """As users call their jobs; those of the trace where it has any."""
    submission: SyntheticSubmission
    startup_s: Floats
    unit_s: Floats
    """Seconds an epoch or step of this very run takes."""
    stated_s: Floats
    """What the numbers in its code come to at the usual pace of that code: what can be known."""
    planned_s: Floats
    """What it would run if it ran to its end: start-up + length * `unit_s`. The trace's own
    duration where it did."""
    fails_at_s: Floats
    """When it ends early; infinite where it does not."""
    hang_s: Floats
    """What it sits hung, or computes with nonsense, before its early end."""
    reason: Coded
    """Of the failure taxonomy."""
    log_every_s: Floats
    checkpoint_every_s: Floats
    """0 where it writes none."""
    utilization: Floats
    memory_mb: Floats
    """Of each GPU."""
    gpu_exponent: Floats
    """Its throughput goes with the number of GPUs to this power."""
    explained: float
    """Of the variance of log run times, by `stated_s`."""

    @property
    def silent_s(self) -> Floats:
        """How much of `hang_s` it neither computes nor writes: a run with NaN does both."""
        silent = [reason in _SILENT for reason in self.reason.words]
        return np.where(np.array(silent, dtype=bool)[self.reason.codes], self.hang_s, 0.0)

    def take(self, which: Ints) -> SyntheticWorkload:
        """Of some of the jobs."""
        taken: dict[str, Any] = {
            each.name: value.take(which)
            if isinstance(value, Coded | SyntheticSubmission)
            else value[which]
            for each in fields(self)
            if not isinstance(value := getattr(self, each.name), float)
        }
        return replace(self, **taken)

    def visible_columns(self, columns: TraceColumns) -> TraceColumns:
        """The trace as a baseline may see it: with names."""
        return replace(columns, name=self.names)

"""What a trace's jobs might have been: what may be known of them by whom, and what is true."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schedmate.simulator.columns import Coded, Columns, Floats, Ints
from schedmate.simulator.overlay.projects import Project, bank


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What SchedMate may see at a job's submission beside what everybody sees: its directory and
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

    def project_of(self, job: int) -> Project:
        return bank()[int(self.project[job])]

    def arguments(self, job: int) -> tuple[str, ...]:
        return self.project_of(job).arguments(self.length[job], self.batch[job], self.rate[job])

    def files(self, job: int) -> dict[str, str]:
        return self.project_of(job).files_of(int(self.copy[job]), int(self.version[job]))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Meaning:
    """`names` anybody may see and `work` SchedMate; all else is how things are, for the simulated
    world alone."""

    names: Coded
    """As users call their jobs; those of the trace where it has any."""
    work: Work
    startup_s: Floats
    unit_s: Floats
    """Seconds an epoch or step of this very run takes."""
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

    def as_seen(self, columns: Columns) -> Columns:
        """The trace as a baseline may see it: with names."""
        return replace(columns, name=self.names)

"""A run that has ended, as it is remembered."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedmate.model.job import Job
from schedmate.model.profile import RunProfile
from schedmate.model.progress import Resume, RunCourse, Unit
from schedmate.model.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What makes two runs alike before anyone looks at meaning.

    `code` digests the files that will run, `arguments` the command line after them.
    `signature` tells code that is nearly the same: see `advisor.understand.signature`. `one_gpu`:
    nothing in the code would use more than one GPU, however many the job requests.
    """

    code: str
    arguments: str
    signature: tuple[int, ...] = field(default=(), compare=False)
    one_gpu: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class GpuUse:
    """What a site measured of one run's GPUs, as `PastRun` has it."""

    memory_mb: float | None
    utilization: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One attempt of one job: what it was and how it really went."""

    job: Job
    fingerprint: Fingerprint | None = None
    workload: Workload = field(default_factory=Workload)
    steps_done: float | None = None
    steps_unit: Unit | None = None
    checkpoint_step: int | None = None
    """The newest one that its log tells of."""
    course: RunCourse | None = None
    resume: Resume | None = None
    """None where it is the first run, or its log does not show it."""
    complete: bool = False
    """Its log shows that the work was done, however the run ended."""
    startup_s: float | None = None
    profile: RunProfile | None = None
    gpu_memory_mb: float | None = None
    """The most that one GPU held, where the site measures it."""
    gpu_utilization: float | None = None
    """From 0 to 1, over the whole run and all its GPUs."""

    @property
    def duration_s(self) -> float:
        """The run time, with that of runs from which it went on; 0 where it has not run."""
        before_s = 0.0 if self.resume is None else self.resume.before_s
        return before_s + (self.job.run_time_s or 0.0)

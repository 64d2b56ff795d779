"""How far a running job is, read from its log."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from schedmate.model.advice import Cost, Spread

Phase = Literal[
    "starting",
    "training",
    "evaluating",
    "checkpointing",
    "stalled",
    "finished",
    "failed",
    "unknown",
]
KnownPause = Literal["evaluating", "checkpointing", "compiling", "loading"]
Unit = Literal["step", "epoch", "sample", "token", "percent"]
FractionOf = Literal["work", "time"]
EndsBy = Literal["total", "cap", "limit", "early_stop", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    path: str | None = None
    step: int | None = None
    saved_at: float | None = None
    """When its line was seen; None where it was there before its log was watched."""
    saving: bool = False
    """Its line says that it is being saved, not that it was."""


ResumeOutcome = Literal["resumed", "started_over"]
"""What became of the work of the run before: it went on from its checkpoint, or began anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    outcome: ResumeOutcome
    began: float
    """The count at which the run began."""
    after_s: float | None = None
    """How long it took to get there."""
    before_s: float = 0.0
    """How long the runs took from which it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCourse:
    """Where the count and the loss of one run began, and where its loss is: a few values each."""

    began: float | None = None
    """A run that goes on from a checkpoint does not begin at zero."""
    first_losses: tuple[float, ...] = ()
    last_losses: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """What a run left to the next one, by its log."""

    unit: Unit | None = None
    done: float | None = None
    saved: int | None = None
    """The step of its newest checkpoint."""
    saves: bool = False
    """Whether its log tells of a checkpoint, with or without a step."""
    course: RunCourse = RunCourse()
    took_s: float = 0.0
    """With the runs from which it went on itself."""
    same_job: bool = True
    """Else it was another job that ran the same, and to begin anew says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """A lasting drop of speed: now `factor` (below 1) of what it was before `since_s`."""

    since_s: float
    """Seconds after the run began."""
    factor: float
    against: Literal["own", "similar"] = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """How long the logs have been silent, and what they were like before.

    Evidence for the decision engine; the phase `stalled` is only what is shown.
    """

    silent_s: float
    """While it was watched: time in which the machine slept is left out."""
    allowed_s: float
    """Up to here its own rhythm explains the silence."""
    usual_gap_s: float = 0.0
    """The longest silence so far that came twice."""
    lines: int = 0
    """How many lines the rhythm was learnt from, ..."""
    looks: int = 0
    """... in how many looks, ..."""
    learnt_s: float = 0.0
    """... over how long."""
    pause: KnownPause | None = None
    """What the last lines announced, if that may take long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyWarning:
    """What a run that goes on may end in; `reason` is of the failure taxonomy."""

    reason: str
    text: str
    line: str = ""
    """The newest line that shows it, where one does."""
    firm: bool = False
    """The run goes on for nothing: what would show that it recovers did not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    schema: Literal["schedmate.progress/1"] = "schedmate.progress/1"
    log: str
    phase: Phase = "unknown"
    unit: Unit | None = None
    counted: str = ""
    """What a step is, where the log names it: a trial, a test, a file."""
    current: float | None = None
    total: float | None = None
    fraction: float | None = None
    fraction_of: FractionOf = "work"
    """The time where that ends the run, or where the work has no known end."""
    epoch: float | None = None
    ends_by: EndsBy = "unknown"
    rate_per_s: float | None = None
    elapsed_s: float | None = None
    eta_s: Spread | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None
    resume: Resume | None = None
    """Of a run that follows another one, once its log shows it."""
    complete: bool = False
    """Its work was done, however the run ended: counted to its end, or stated in words."""
    slowdown: Slowdown | None = None
    silence: Silence | None = None
    warnings: tuple[EarlyWarning, ...] = ()
    links: tuple[str, ...] = ()
    note: str = ""
    """What stands in the way of knowing more, such as a log that cannot be read."""
    confidence: float = 0.0
    format: str = "none"
    cost: Cost = field(default_factory=Cost)

    def __post_init__(self) -> None:
        """Leave out a metric that is NaN or infinite: JSON has no number for it."""
        finite = {name: value for name, value in self.metrics.items() if math.isfinite(value)}
        object.__setattr__(self, "metrics", finite)

    @property
    def work_fraction(self) -> float | None:
        """How much of the steps is done, whatever ends the run."""
        if self.fraction_of == "work":
            return self.fraction
        if self.current is None or not self.total:
            return None
        return min(1.0, self.current / self.total)

    @property
    def time_fraction(self) -> float | None:
        """How much of its time has passed, where it is the time that counts."""
        return self.fraction if self.fraction_of == "time" else None

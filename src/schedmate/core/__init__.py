"""The decision engine. `DecisionEngine.handle(event)` returns instructions; see `engine.py`."""

from schedmate.core.attempts import Attempt, Hung, Reached
from schedmate.core.doomed_limits import DOOMED_BY_WARNING, DOOMED_REASONS, DoomedLimits
from schedmate.core.drains import DrainLimits, SuspectNode
from schedmate.core.engine import DecisionEngine
from schedmate.core.events import (
    EVENTS,
    ActivitySeen,
    CheckpointSeen,
    Event,
    GpuUseKnown,
    JobAdvised,
    JobDiagnosed,
    JobForgotten,
    JobReverted,
    JobSeen,
    NodeSeen,
    PaceSeen,
    Past,
    ProgressSeen,
    ResumeKnown,
    ShareSeen,
    Started,
    Stopping,
    job_of,
)
from schedmate.core.fairness import FairnessLimits
from schedmate.core.hangs import HangLimits
from schedmate.core.holds import HoldLimits, hold_phase
from schedmate.core.instructions import (
    Act,
    Advise,
    Diagnose,
    Instruction,
    Measure,
    Reconsider,
    Remember,
    Track,
)
from schedmate.core.interactive import is_interactive
from schedmate.core.known_job import KnownJob
from schedmate.core.order import NiceHistory
from schedmate.core.preemption import MadeWay, PreemptionLimits, ResumeProof
from schedmate.core.retry import DecisionLimits, NodeChoice, RetryPlan, plan_retry
from schedmate.core.same_work import Work, code_submits_jobs, is_rival, names_job
from schedmate.core.scope import Scope, is_opted_out
from schedmate.core.sharing import MeasuredUse, SharingLimits
from schedmate.core.successors import (
    may_be_child,
    may_have_waited,
    submits_jobs,
    waits_for,
    waits_for_end,
    was_submitted_since,
)
from schedmate.core.time_limits import TimeLimits

__all__ = [
    "DOOMED_BY_WARNING",
    "DOOMED_REASONS",
    "EVENTS",
    "Act",
    "ActivitySeen",
    "Advise",
    "Attempt",
    "CheckpointSeen",
    "DecisionEngine",
    "DecisionLimits",
    "Diagnose",
    "DoomedLimits",
    "DrainLimits",
    "Event",
    "FairnessLimits",
    "GpuUseKnown",
    "HangLimits",
    "HoldLimits",
    "Hung",
    "Instruction",
    "JobAdvised",
    "JobDiagnosed",
    "JobForgotten",
    "JobReverted",
    "JobSeen",
    "KnownJob",
    "MadeWay",
    "Measure",
    "MeasuredUse",
    "NiceHistory",
    "NodeChoice",
    "NodeSeen",
    "PaceSeen",
    "Past",
    "PreemptionLimits",
    "ProgressSeen",
    "Reached",
    "Reconsider",
    "Remember",
    "ResumeKnown",
    "ResumeProof",
    "RetryPlan",
    "Scope",
    "ShareSeen",
    "SharingLimits",
    "Started",
    "Stopping",
    "SuspectNode",
    "TimeLimits",
    "Track",
    "Work",
    "code_submits_jobs",
    "hold_phase",
    "is_interactive",
    "is_opted_out",
    "is_rival",
    "job_of",
    "may_be_child",
    "may_have_waited",
    "names_job",
    "plan_retry",
    "submits_jobs",
    "waits_for",
    "waits_for_end",
    "was_submitted_since",
]

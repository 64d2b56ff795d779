"""The mate's mind. `Mind.handle(event)` returns instructions; see `mind.py`."""

from schedmate.core.events import (
    ActivitySeen,
    Event,
    JobAdvised,
    JobDiagnosed,
    JobSeen,
    ProgressSeen,
)
from schedmate.core.hangs import HangLimits
from schedmate.core.history import Attempt, Hung, Reached
from schedmate.core.instructions import (
    Act,
    Advise,
    Diagnose,
    Instruction,
    Measure,
    Remember,
    Track,
)
from schedmate.core.interactive import is_interactive
from schedmate.core.mind import KnownJob, Mind
from schedmate.core.retry import Choice, Limits, RetryPlan, plan_retry

__all__ = [
    "Act",
    "ActivitySeen",
    "Advise",
    "Attempt",
    "Choice",
    "Diagnose",
    "Event",
    "HangLimits",
    "Hung",
    "Instruction",
    "JobAdvised",
    "JobDiagnosed",
    "JobSeen",
    "KnownJob",
    "Limits",
    "Measure",
    "Mind",
    "ProgressSeen",
    "Reached",
    "Remember",
    "RetryPlan",
    "Track",
    "is_interactive",
    "plan_retry",
]

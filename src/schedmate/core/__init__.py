"""The decision engine. `DecisionEngine.handle(event)` returns instructions; see `engine.py`."""

from schedmate.core.attempts import Attempt, Reached
from schedmate.core.engine import DecisionEngine, KnownJob
from schedmate.core.events import (
    EVENTS,
    Event,
    JobAdvised,
    JobDiagnosed,
    JobForgotten,
    JobSeen,
    Past,
    ProgressSeen,
    Started,
    job_of,
)
from schedmate.core.instructions import Act, Advise, Diagnose, Instruction, Remember, Track
from schedmate.core.retry import Choice, Limits, RetryPlan, plan_retry
from schedmate.core.time_limits import TimeLimits

__all__ = [
    "EVENTS",
    "Act",
    "Advise",
    "Attempt",
    "Choice",
    "DecisionEngine",
    "Diagnose",
    "Event",
    "Instruction",
    "JobAdvised",
    "JobDiagnosed",
    "JobForgotten",
    "JobSeen",
    "KnownJob",
    "Limits",
    "Past",
    "ProgressSeen",
    "Reached",
    "Remember",
    "RetryPlan",
    "Started",
    "TimeLimits",
    "Track",
    "job_of",
    "plan_retry",
]

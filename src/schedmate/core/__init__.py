"""The mate's mind. `Mind.handle(event)` returns instructions; see `mind.py`."""

from schedmate.core.events import Event, JobAdvised, JobDiagnosed, JobSeen, ProgressSeen
from schedmate.core.history import Attempt, Reached
from schedmate.core.instructions import Act, Advise, Diagnose, Instruction, Remember, Track
from schedmate.core.mind import KnownJob, Mind
from schedmate.core.places import Written, place
from schedmate.core.retry import Choice, Limits, RetryPlan, plan_retry

__all__ = [
    "Act",
    "Advise",
    "Attempt",
    "Choice",
    "Diagnose",
    "Event",
    "Instruction",
    "JobAdvised",
    "JobDiagnosed",
    "JobSeen",
    "KnownJob",
    "Limits",
    "Mind",
    "ProgressSeen",
    "Reached",
    "Remember",
    "RetryPlan",
    "Track",
    "Written",
    "place",
    "plan_retry",
]

"""The mate's mind. `Mind.handle(event)` returns instructions; see `mind.py`."""

from schedmate.core.events import Event, JobAdvised, JobDiagnosed, JobSeen, ProgressSeen
from schedmate.core.instructions import Act, Advise, Diagnose, Instruction, Remember, Track
from schedmate.core.mind import KnownJob, Limits, Mind

__all__ = [
    "Act",
    "Advise",
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
    "Remember",
    "Track",
]

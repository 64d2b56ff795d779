"""What can go wrong in a way that a person can mend.

SchedMateError            exit 1
├── BadInput              exit 2   an argument, a file or a setting that cannot be used
├── NotFound              exit 3   no such job, file or record
├── SchedulerError        exit 1   the scheduler refused
│   └── SchedulerUnreachable  exit 4
│       └── PartlyKnown            some of the jobs asked for cannot be looked up now
├── ModelError            exit 1   the language model gave no usable answer
│   ├── ModelUnavailable  exit 5   none configured, or the endpoint does not answer
│   │   └── NoConsent              the job's owner or the site forbids models for it
│   ├── ModelTooSlow               the deadline passed
│   ├── BudgetSpent                the token budget is used up
│   └── BadAnswer                  no valid answer after the repair turns
├── ServerUnreachable     exit 1   the site's daemon does not answer
├── NotSignedIn           exit 1   it does not know who asks, or they may not
├── StoreError            exit 1   a database refuses what is asked of it
│   └── StoreUnavailable           the disk under it is full, or it does not answer
│       ├── LeaseLost              another daemon decides now
│       └── UnusableStore exit 6   it is damaged, or another cluster's
└── NotThereYet           exit 1   a verb that a later release brings
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model.job import Job


class SchedMateError(Exception):
    """One clear sentence for the person in front of the terminal, and the exit code."""

    exit_code = 1


class BadInput(SchedMateError):
    exit_code = 2


class NotFound(SchedMateError):
    exit_code = 3


class SchedulerError(SchedMateError):
    pass


class SchedulerUnreachable(SchedulerError):
    exit_code = 4


class NotAllowed(SchedulerError):
    """The scheduler does not do this for the account that asks."""


class PartlyKnown(SchedulerUnreachable):
    """The others are not known to be gone: who could tell does not answer."""

    def __init__(self, message: str, found: Sequence[Job]) -> None:
        super().__init__(message)
        self.found = tuple(found)


class ModelError(SchedMateError):
    pass


class ModelUnavailable(ModelError):
    exit_code = 5


class NoConsent(ModelUnavailable):
    """The job's owner or the site forbids models for it."""


class ModelTooSlow(ModelError):
    pass


class BudgetSpent(ModelError):
    pass


class BadAnswer(ModelError):
    pass


class ServerUnreachable(SchedMateError):
    """What this machine shows is still there."""


class NotSignedIn(SchedMateError):
    pass


class StoreError(SchedMateError):
    """Names the database: for the log and the terminal, not for whom a server answers."""


class StoreUnavailable(StoreError):
    """About no job in particular: whatever is written next would fail too."""


class LeaseLost(StoreUnavailable):
    """Of the daemon that was deciding: it may not write down another decision."""


class UnusableStore(StoreUnavailable):
    """No look after this one will find it better, and no restart: a person has to do something."""

    exit_code = 6


class NotThereYet(SchedMateError):
    pass

"""The account that SchedMate runs under: what it can read and change, and its warnings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model.account import account_name
from schedmate.schedulers.base import KnowsRights, Rights

if TYPE_CHECKING:
    from schedmate.model import ActionKind, Mode
    from schedmate.schedulers.base import Scheduler


_FOR_OPERATORS: frozenset[ActionKind] = frozenset({"set_nice", "set_time_limit"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    user: str
    root: bool
    rights: Rights | None
    """None: the queue is this user's own."""

    @property
    def orders(self) -> bool:
        """Whether it can order the queue: with own jobs only it would just push these back."""
        return self.rights is None or self.rights.everyone

    @property
    def drains(self) -> bool:
        return self.rights is None or self.rights.administers

    def may(self, kind: ActionKind, owner: str) -> bool:
        """A user could lower the limit of an own job on Slurm, but never raise it again."""
        return self.orders or (kind not in _FOR_OPERATORS and owner == self.user)

    def described(self) -> str:
        files = "reads every file, each job's as its owner" if self.root else "reads own files only"
        return f"{self.user}: {files}; {self._changes()}"

    def _changes(self) -> str:
        if self.rights is None:
            return "may change every job of its own queue"
        if self.rights.everyone:
            return f"may change every user's jobs ({self.rights.role}); every mode is possible"
        return (
            f"may change own jobs only ({self.rights.role}); observe is the mode for it, assist "
            "and act reach own jobs only and order nothing"
        )

    def _acts_as_root(self) -> str:
        if self.rights is None:
            return "stops and requeues jobs of a queue that runs everything as root"
        return (
            "stops and requeues every user's jobs by itself, and a wrong diagnosis costs a user "
            "a run; an account of its own with Slurm's admin level Operator can do no more harm "
            "than that"
        )

    def warnings(self, mode: Mode) -> list[str]:
        """What an operator should know before it runs in this mode."""
        warnings = []
        if mode == "act" and self.root:
            warnings.append(
                f"mode act as root: SchedMate {self._acts_as_root()}; read in mode observe first "
                "what it would do"
            )
        if mode != "observe" and not self.orders:
            warnings.append(
                f"ordering is switched off: {self.user} may change own jobs only, and a nice "
                "number would only push them back behind other users', which are left alone"
            )
        if mode == "act" and not self.orders:
            warnings.append(
                "a job that is queued again loses its age: only an operator could make up for it"
            )
        return warnings


def account_at(scheduler: Scheduler) -> Account:
    """Of the user of this process; the scheduler is asked, and may be unreachable."""
    rights = scheduler.rights() if isinstance(scheduler, KnowsRights) else None
    return Account(user=account_name(), root=os.getuid() == 0, rights=rights)

"""Which jobs are left alone: by the site's settings, or by a word of their user.

What a user can choose does not move a job forward: a word in its comment does not keep it from
being set back, nor does one more partition beside those whose jobs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from schedmate.model.comments import words_in

if TYPE_CHECKING:
    from schedmate.model import Job

REFUSALS = frozenset({"off", "keep"})
"""With one of these a run neither makes way nor shares its GPUs."""


def owner_words(job: Job) -> frozenset[str]:
    """What its owner asks of SchedMate in its comment: each word behind `schedmate=`."""
    return words_in(job.comment)


def is_opted_out(job: Job) -> bool:
    """By a word of its owner it is neither read nor interfered with; its turn it keeps."""
    return "off" in owner_words(job)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteConsent:
    """Where the site lets something be done to all jobs, whose owners know it; elsewhere an owner
    allows it by a word in the job's comment."""

    word: ClassVar[str]
    allows: ClassVar[str]
    """What it lets jobs do, as a verb."""
    partitions: frozenset[str] = frozenset()
    qos: frozenset[str] = frozenset()

    def consent(self, job: Job) -> str | None:
        """By whom it is allowed, in words; None where nobody has said so."""
        words = owner_words(job)
        if words & REFUSALS:
            return None
        if self.word in words:
            return f"its comment has schedmate={self.word}"
        partition, qos = job.request.partition or "", job.request.qos
        if set(partition.split(",")) <= self.partitions:
            return f"partition {partition} lets jobs {self.allows}"
        return f"QOS {qos} lets jobs {self.allows}" if qos in self.qos else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Names as the scheduler has them. Without canary partitions all are acted upon."""

    canary_partitions: frozenset[str] = frozenset()
    exclude_users: frozenset[str] = frozenset()
    exclude_partitions: frozenset[str] = frozenset()
    exclude_accounts: frozenset[str] = frozenset()
    exclude_qos: frozenset[str] = frozenset()

    def objection(self, job: Job) -> str | None:
        """Why nothing but its place in the queue is changed, None where all may be."""
        return "its comment has schedmate=off" if is_opted_out(job) else self._left(job, any)

    def unordered(self, job: Job) -> str | None:
        """Why its place in the queue is left as it is, None where it is ordered."""
        return self._left(job, all)

    def _left(self, job: Job, quantity: Callable[[Iterable[object]], bool]) -> str | None:
        """By the site's settings; `quantity` says how many of its partitions have to be left."""
        if not job.cluster and self == _ALL:
            return None
        named = set((job.request.partition or "").split(","))
        grounds = [self._ground(partition) for partition in sorted(named)]
        account, qos = job.request.account, job.request.qos
        objections = {
            f"cluster {job.cluster} has it": bool(job.cluster),
            f"user {job.user} is left alone": job.user in self.exclude_users,
            f"account {account} is left alone": account in self.exclude_accounts,
            f"QOS {qos} is left alone": qos in self.exclude_qos,
            next(filter(None, grounds), ""): quantity(grounds),
        }
        return next((why for why, applies in objections.items() if applies), None)

    def _ground(self, partition: str) -> str:
        if partition in self.exclude_partitions:
            return f"partition {partition} is left alone"
        beyond = self.canary_partitions and partition not in self.canary_partitions
        return "its partition is no canary partition" if beyond else ""


_ALL = Scope()

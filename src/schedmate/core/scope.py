"""Which jobs are left alone: by the site's settings, or by a word of their user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import Job

_OPTED_OUT = re.compile(r"(?:^|[\s,;])schedmate=off(?=$|[\s,;])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Names as the scheduler has them. Without canary partitions all are acted upon."""

    canary_partitions: frozenset[str] = frozenset()
    exclude_users: frozenset[str] = frozenset()
    exclude_partitions: frozenset[str] = frozenset()
    exclude_accounts: frozenset[str] = frozenset()
    exclude_qos: frozenset[str] = frozenset()

    def objection(self, job: Job) -> str | None:
        """Why nothing is done about this job, None where it may be."""
        partitions = frozenset((job.request.partition or "").split(",")) - {""}
        left = partitions & self.exclude_partitions
        beyond = self.canary_partitions and not (
            partitions and partitions <= self.canary_partitions
        )
        objections = {
            f"cluster {job.cluster} has it": bool(job.cluster),
            "its comment has schedmate=off": _OPTED_OUT.search(job.comment) is not None,
            f"user {job.user} is left alone": job.user in self.exclude_users,
            f"partition {min(left, default='')} is left alone": bool(left),
            f"account {job.request.account} is left alone": job.request.account
            in self.exclude_accounts,
            f"QOS {job.request.qos} is left alone": job.request.qos in self.exclude_qos,
            "its partition is no canary partition": bool(beyond),
        }
        return next((why for why, applies in objections.items() if applies), None)

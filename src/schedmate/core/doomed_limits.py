"""For which reasons runs that go on for nothing may be stopped, by whose word, and how soon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from schedmate.core.scope import owner_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedmate.model import Job

DoomedReason = Literal["nan", "checkpoint", "hang", "repeated", "limit", "idle"]
DOOMED_REASONS: Final[tuple[DoomedReason, ...]] = get_args(DoomedReason)
DOOMED_BY_WARNING: Final[Mapping[str, DoomedReason]] = {
    "loss_nan": "nan",
    "disk_full": "checkpoint",
    "disk_quota": "checkpoint",
    "storage_io": "checkpoint",
    "permission_denied": "checkpoint",
    "time_limit": "limit",
}
"""What firm warnings of a log show."""
_ALL = "doomed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoomedLimits:
    stop: frozenset[str] = frozenset()
    """For which reasons the site lets runs be stopped."""
    after_s: float = 600.0
    """How long after the message, where the same sign still stands."""
    idle_s: float = 3600.0
    """Without use of a GPU, CPU or output, after which an allocation is idle."""

    def may_stop(self, job: Job, reason: DoomedReason) -> bool:
        """By the site's settings, or by a word of its owner."""
        wanted = {f"stop-{reason}", f"stop-{_ALL}"}
        return reason in self.stop or not wanted.isdisjoint(owner_words(job))

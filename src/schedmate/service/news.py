"""Which progress is worth an event: the engine decides by what changes, not by every line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import JobId, Phase, Progress

_AT_LEAST_EVERY_S = 600.0
_STALLED_EVERY_S = 60.0
_END_MOVED = 0.1
"""Of the time left: a smaller change of the expected end is none."""


@dataclass(frozen=True, slots=True)
class _Last:
    at: float
    phase: Phase
    ends_at: float | None
    marks: object
    """What is news whenever it changes."""


class News:
    def __init__(self) -> None:
        self._last: dict[JobId, _Last] = {}

    def is_news(self, job_id: JobId, progress: Progress, now: float) -> bool:
        """Whether it differs from what was passed on before, which it then replaces."""
        ends_at = None if progress.eta_s is None else now + progress.eta_s.p50
        last = self._last.get(job_id)
        if last is not None and not _differs(last, progress, ends_at, now):
            return False
        self._last[job_id] = _Last(now, progress.phase, ends_at, _marks(progress))
        return True

    def forget(self, job_id: JobId) -> None:
        self._last.pop(job_id, None)


def _differs(last: _Last, progress: Progress, ends_at: float | None, now: float) -> bool:
    every_s = _STALLED_EVERY_S if progress.phase == "stalled" else _AT_LEAST_EVERY_S
    if progress.phase != last.phase or _marks(progress) != last.marks:
        return True
    if not 0 <= now - last.at < every_s:
        return True
    if ends_at is None or last.ends_at is None:
        return (ends_at is None) != (last.ends_at is None)
    return abs(ends_at - last.ends_at) > _END_MOVED * max(ends_at - now, 1.0)


def _marks(progress: Progress) -> object:
    reasons = {warning.reason for warning in progress.warnings}
    return progress.slowdown is None, reasons, progress.checkpoint, progress.ends_by

"""Which progress becomes an event: the engine decides by changes, not by every line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import JobId, Phase, Progress

_AT_LEAST_EVERY_S = 600.0
_SILENT_EVERY_S = 60.0
_SHARE_OF_A_HANG = 1 / 30
_SILENT = 5
"""Times the interval above: from then on a silence is watched closely."""
_END_MOVED = 0.1
"""Of the time left: a smaller change of the expected end is none."""


@dataclass(frozen=True, slots=True)
class _Last:
    at: float
    phase: Phase
    ends_at: float | None
    facts: object
    """What makes an event whenever it changes."""


class ProgressFilter:
    """`hang_after_s` is how long a silence is before it may be a hang."""

    def __init__(self, hang_after_s: float) -> None:
        self._last: dict[JobId, _Last] = {}
        self._silent_every_s = min(_SILENT_EVERY_S, _SHARE_OF_A_HANG * hang_after_s)

    def is_new(self, job_id: JobId, progress: Progress, now: float) -> bool:
        """Whether it differs from what was passed on before, which it then replaces."""
        ends_at = None if progress.eta_s is None else now + progress.eta_s.p50
        last = self._last.get(job_id)
        if last is not None and not self._differs(last, progress, ends_at, now):
            return False
        self._last[job_id] = _Last(now, progress.phase, ends_at, _facts(progress))
        return True

    def forget(self, job_id: JobId) -> None:
        self._last.pop(job_id, None)

    def _differs(self, last: _Last, progress: Progress, ends_at: float | None, now: float) -> bool:
        if progress.phase != last.phase or _facts(progress) != last.facts:
            return True
        if not 0 <= now - last.at < self._every_s(progress):
            return True
        if ends_at is None or last.ends_at is None:
            return (ends_at is None) != (last.ends_at is None)
        return abs(ends_at - last.ends_at) > _END_MOVED * max(ends_at - now, 1.0)

    def _every_s(self, progress: Progress) -> float:
        silent_s = 0.0 if progress.silence is None else progress.silence.silent_s
        silent = silent_s >= _SILENT * self._silent_every_s
        return self._silent_every_s if silent else _AT_LEAST_EVERY_S


def _facts(progress: Progress) -> object:
    reasons = {(warning.reason, warning.firm) for warning in progress.warnings}
    return progress.slowdown is None, reasons, progress.checkpoint, progress.ends_by

"""How fast a run is beside another one on the same GPU, by the count in its log.

Compared with its own pace alone: as the same run was before the other one came, else as runs of the
same code with the same arguments were that had a GPU to themselves. Where neither is known, nothing
is concluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import Job, JobId, Progress, RunProfile, Unit
    from schedmate.service.daemon.known_codes import KnownCodes
    from schedmate.store import Store

WINDOW_S = 60.0
_LEAST_STEPS = 10
"""A pace is measured over so long and so many steps at least, twice in a row: one pause to save or
to evaluate is no slow pace."""


@dataclass(slots=True)
class _Watched:
    attempt: int
    unit: Unit
    beside: JobId
    begun_at: float
    begun: float
    alone: float | None = None
    """Steps a second as it had its GPU to itself."""
    before: float | None = None
    """Steps a second beside the other one, in the window before this one."""

    def compared(self, rate: float) -> float | None:
        if not self.beside:
            self.alone = rate
            return None
        before, self.before = self.before, rate
        return None if self.alone is None or before is None else max(before, rate) / self.alone


class SharedPace:
    def __init__(self, store: Store, codes: KnownCodes) -> None:
        self._store = store
        self._codes = codes
        self._watched: dict[JobId, _Watched] = {}

    def forget(self, job_id: JobId) -> None:
        self._watched.pop(job_id, None)

    def look(
        self, job: Job, progress: Progress, beside: JobId, shards: int, now: float
    ) -> float | None:
        """Its pace, 1 being alone, whenever that was measured anew beside another run."""
        if progress.unit is None or progress.current is None:
            return None
        one = self._watched.get(job.id)
        if one is None or (one.attempt, one.unit) != (job.restarts, progress.unit):
            alone = self._alone(job, progress.unit, shards)
            one = _Watched(job.restarts, progress.unit, beside, now, progress.current, alone)
            self._watched[job.id] = one
            return None
        if one.beside != beside:
            one.beside, one.before = beside, None
            one.begun_at, one.begun = now, progress.current
        took_s, done = now - one.begun_at, progress.current - one.begun
        if took_s < WINDOW_S or done < _LEAST_STEPS:
            return None
        one.begun_at, one.begun = now, progress.current
        return one.compared(done / took_s)

    def _alone(self, job: Job, unit: Unit, shards: int) -> float | None:
        """By runs of the same."""
        code = self._codes.of(job.id, at_once=True)
        if code is None or code.code is None:
            return None
        profiles = self._store.profiles_alone(code.code, code.arguments, least_shards=shards)
        rates = [rate for one in profiles if one.unit == unit and (rate := _rate_of(one))]
        return median(rates) if rates else None


def _rate_of(profile: RunProfile) -> float | None:
    """Steps a second from its first to its last mark: without what comes before the first step."""
    if not profile.curve:
        return None
    first, last = profile.curve[0], profile.curve[-1]
    took_s, done = last.at - first.at, last.done - first.done
    return done / took_s if took_s > 0 and done > 0 else None

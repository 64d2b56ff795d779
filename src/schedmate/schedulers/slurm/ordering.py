"""Nice numbers of many jobs at once, within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from schedmate.model import SchedulerUnreachable
from schedmate.schedulers.slurm.changes import Target

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.schedulers.slurm.changes import SlurmChanges
    from schedmate.schedulers.slurm.grouping import Queue

_AT_ONCE = 200
"""Updates of one call, which take half a second on a busy machine."""
_MINUTE_S = 60.0


class Allowance:
    """So many updates in any minute: at most half of them at once, so that looks share them."""

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = max(1.0, a_minute / 2)
        self._a_second = a_minute / _MINUTE_S
        self._clock = clock
        self._left, self._at = self._most, clock()

    def take(self, wanted: int) -> int:
        """How many of them may be done now."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._a_second)
        self._at = now
        taken = min(wanted, int(self._left))
        self._left -= taken
        return taken


def set_nices(
    changes: SlurmChanges, numbers: Mapping[JobId, int], queue: Queue, allowance: Allowance
) -> dict[JobId, str]:
    """See `OrdersInBulk`; arrays as `queue` shows them."""
    asked = {
        one: f"cluster {queue.elsewhere[one]} has it" for one in numbers if one in queue.elsewhere
    }
    own = [one for one in numbers if one not in asked]
    some = own[: allowance.take(len(own))]
    for start in range(0, len(some), _AT_ONCE):
        batch = some[start : start + _AT_ONCE]
        try:
            found = changes.set_nices({_target(one, queue): numbers[one] for one in batch})
        except SchedulerUnreachable:
            if not asked:
                raise
            return asked
        asked |= {one: found.get(one, "") for one in batch}
    return asked


def _target(job_id: JobId, queue: Queue) -> Target:
    single = job_id.isdecimal() and not queue.is_several(job_id)
    return Target(queue.arrays.get(job_id, job_id), single)

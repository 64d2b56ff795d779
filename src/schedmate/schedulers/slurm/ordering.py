"""Nice numbers of many jobs at once: one scontrol that reads a command for each from its input."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from schedmate.model import SchedulerUnreachable

if TYPE_CHECKING:
    from schedmate.model import JobId
    from schedmate.schedulers.slurm.commands import SlurmCommands

_AT_ONCE = 200
"""Updates of one scontrol, which take half a second on a busy machine."""
_MINUTE_S = 60.0
_OBJECTION = re.compile(r"^(?P<what>.+) for job (?P<job>\S+)$|^(?P<task>\d+_\S+): (?P<why>.+)$")
_NO_OBJECTION = "No error"


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
    slurm: SlurmCommands,
    numbers: Mapping[JobId, int],
    names: Mapping[JobId, str],
    allowance: Allowance,
) -> dict[JobId, str]:
    """See `OrdersInBulk`; `names` are how scontrol calls those that are arrays."""
    some = list(numbers)[: allowance.take(len(numbers))]
    asked: dict[JobId, str] = {}
    for start in range(0, len(some), _AT_ONCE):
        batch = some[start : start + _AT_ONCE]
        lines = (f"update JobId={names.get(one, one)} Nice={numbers[one]}\n" for one in batch)
        try:
            found = objections(slurm.dictate("scontrol", "".join(lines)))
        except SchedulerUnreachable:
            if not asked:
                raise
            return asked
        asked |= {one: found.get(one, "") for one in batch}
    return asked


def objections(complaints: Iterable[str]) -> dict[JobId, str]:
    """By job: `Invalid job id specified for job 12`, `12_0: Job has already finished`."""
    found: dict[JobId, str] = {}
    for line in complaints:
        match = _OBJECTION.match(line.strip())
        what = match and (match["what"] or match["why"])
        if match is None or not what or what == _NO_OBJECTION:
            continue
        found[(match["job"] or match["task"]).partition("_[")[0]] = what
    return found

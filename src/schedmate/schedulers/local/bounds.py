"""What a run may take of the machine, as its job asked for it."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from schedmate.model.warning_signal import WarningSignal, read_signal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from schedmate.schedulers.local.attempt import RunFiles
    from schedmate.schedulers.local.entry import QueueEntry


def cores_of(entry: QueueEntry, others: Iterable[RunFiles]) -> tuple[int, ...]:
    """The only ones that its run may use; none: all. `others` are the runs beside it, whose cores
    are left to them where there are enough."""
    if not entry.request.cpus:
        return ()
    taken = [core for one in others for core in one.cores()]
    return choose_cores(entry.request.cpus, taken, os.sched_getaffinity(0))


def choose_cores(count: int, taken: Iterable[int], allowed: Collection[int]) -> tuple[int, ...]:
    """Those that the fewest runs have; neighbours where that is open."""
    uses = Counter(taken)
    return tuple(sorted(sorted(allowed, key=lambda core: (uses[core], core))[:count]))


def machine_memory_mb() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20


def warning_of(entry: QueueEntry) -> tuple[WarningSignal, float] | None:
    """The signal that a running job wants before its limit, and when; None where it wants none."""
    stated, limit = entry.options.get("signal"), entry.request.time_limit_s
    if stated is None or limit is None or entry.start_time is None:
        return None
    wanted = read_signal(stated)
    return wanted, entry.start_time + max(0.0, limit - wanted.before_s)

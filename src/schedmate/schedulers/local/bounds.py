"""What a run may take of the machine, as its job asked for it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model.warning_signal import WarningSignal, read_signal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from schedmate.schedulers.local.attempt import RunFiles
    from schedmate.schedulers.local.entry import QueueEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBounds:
    """See the fields of these names in `RunSpec`."""

    cores: tuple[int, ...]
    memory_mb: int | None
    append: bool


def bounds_of(entry: QueueEntry, others: Iterable[RunFiles]) -> RunBounds:
    """`others` are the runs beside it, whose cores are left to them where there are enough."""
    cores: tuple[int, ...] = ()
    if entry.request.cpus:
        taken = [core for one in others for core in one.cores()]
        cores = choose_cores(entry.request.cpus, taken, os.sched_getaffinity(0))
    return RunBounds(
        cores=cores,
        memory_mb=entry.request.memory_mb,
        append=entry.options.get("open-mode") == "append",
    )


def choose_cores(count: int, taken: Iterable[int], allowed: Collection[int]) -> tuple[int, ...]:
    """Those that the fewest runs have; neighbours where that is open."""
    uses = Counter(taken)
    return tuple(sorted(sorted(allowed, key=lambda core: (uses[core], core))[:count]))


def machine_memory_mb() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20


@dataclass(frozen=True, slots=True)
class Warned:
    """The signal that a job wants before its limit, and when it is due."""

    signal: WarningSignal
    at: float


def warning_of(entry: QueueEntry) -> Warned | None:
    """Of a running job; None where it wants none."""
    stated, limit = entry.options.get("signal"), entry.request.time_limit_s
    if stated is None or limit is None or entry.start_time is None:
        return None
    wanted = read_signal(stated)
    return Warned(wanted, entry.start_time + max(0.0, limit - wanted.before_s))

"""Which waiting jobs start now: in their order, and past a job that needs more room only where it
is not delayed (EASY backfill). Pure: no clock, no files.

The first job that does not fit gets a reservation: the moment at which the running jobs will have
made enough room, by their limits and predictions, and the GPUs that it will take then. A job behind
it starts on other GPUs, or where it ends before that moment or before the first job's first minute
of waiting is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.schedulers.local.entry import SECONDS_A_NICE

if TYPE_CHECKING:
    from schedmate.model.job import Request
    from schedmate.schedulers.local.devices import Device
    from schedmate.schedulers.local.entry import QueueEntry

_PATIENCE_S = 60.0
"""A job may be passed by others that end before it has waited so long: many short ones fill the
gaps, and who waits for many GPUs hardly notices."""
_MOST_TRIED = 500
"""Kinds of jobs behind the reservation for which no room was found, before a pass gives up."""


Choose = Callable[["QueueEntry", "Sequence[Device]"], "tuple[str, ...] | None"]
"""The names of the devices that a job would get of these, None where they do not suffice."""


@dataclass(frozen=True, slots=True)
class Start:
    entry: QueueEntry
    devices: tuple[str, ...]
    backfilled: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """All devices that may be handed out, those among them that are free, all cores and memory."""

    devices: Sequence[Device]
    free: Sequence[Device]
    cores: int
    choose: Choose
    memory_mb: int = 1 << 40


def in_order(waiting: Iterable[QueueEntry]) -> list[QueueEntry]:
    """What somebody put on top first; a nice number is worth a minute of waiting, so that no job
    is overtaken for ever."""
    return sorted(waiting, key=_rank)


def _rank(entry: QueueEntry) -> tuple[float, float, int]:
    return -(entry.top_at or 0.0), entry.submit_time + entry.nice * SECONDS_A_NICE, entry.id


def plan(
    waiting: Sequence[QueueEntry], running: Sequence[QueueEntry], machine: Machine, now: float
) -> list[Start]:
    """`waiting` are those that may start, in their order."""
    room = _Room(machine, running)
    starts: list[Start] = []
    for position, entry in enumerate(waiting):
        devices = room.fit(entry)
        if devices is not None:
            room.take(entry, devices)
            starts.append(Start(entry, devices))
            continue
        reserved = _reserve(entry, room, now)
        if reserved is not None:  # else it is wider than the machine has become
            behind = waiting[position + 1 :]
            reserved.at = max(reserved.at, _waits_since(entry) + _PATIENCE_S)
            return starts + _backfill(behind, room, reserved, now)
    return starts


def _waits_since(entry: QueueEntry) -> float:
    return max(entry.submit_time, entry.eligible_time)


def expected_end(entry: QueueEntry, now: float) -> float:
    """Of a running job. One that is overdue, or of which nothing is known, is expected to run as
    long again as it has so far."""
    started = now if entry.start_time is None else entry.start_time
    elapsed = max(0.0, now - started)
    predicted = entry.predicted_s or 0.0
    expected = predicted if predicted > elapsed else 2 * elapsed
    limit = entry.request.time_limit_s
    return max(now, started + (expected if limit is None else _within(limit, predicted, elapsed)))


def _within(limit: float, predicted: float, elapsed: float) -> float:
    return min(limit, predicted) if predicted > elapsed else limit


def is_overdue(entry: QueueEntry, now: float) -> bool:
    if entry.predicted_s is None or entry.start_time is None:
        return False
    return now - entry.start_time > entry.predicted_s


def longest_run_s(entry: QueueEntry, *, by_prediction: bool = True) -> float | None:
    """Of a job that waits; None where nothing bounds it."""
    known = [entry.request.time_limit_s, entry.predicted_s if by_prediction else None]
    return min((one for one in known if one is not None), default=None)


@dataclass(slots=True)
class _Reservation:
    at: float
    devices: frozenset[str]
    spare_cores: int
    spare_memory_mb: int

    def has_room_for(self, entry: QueueEntry) -> bool:
        """Beside the job that it is for."""
        return entry.cores <= self.spare_cores and entry.memory_mb <= self.spare_memory_mb


class _Room:
    """What is free, as jobs take it."""

    def __init__(self, machine: Machine, running: Sequence[QueueEntry]) -> None:
        taken = {name for entry in running for name in entry.slots}
        self.machine = machine
        self.running = running
        self.started: list[tuple[QueueEntry, tuple[str, ...]]] = []
        self.free = [device for device in machine.free if device.name not in taken]
        self.cores = machine.cores - sum(entry.cores for entry in running)
        self.memory_mb = machine.memory_mb - sum(entry.memory_mb for entry in running)

    def fit(
        self, entry: QueueEntry, without: frozenset[str] = frozenset()
    ) -> tuple[str, ...] | None:
        if entry.cores > self.cores or entry.memory_mb > self.memory_mb:
            return None
        beside = [*self.running, *(one for one, _ in self.started)]
        if beside and (entry.is_exclusive or any(one.is_exclusive for one in beside)):
            return None
        if not entry.request.gpus:
            return ()
        return self.machine.choose(entry, [one for one in self.free if one.name not in without])

    def take(self, entry: QueueEntry, devices: tuple[str, ...]) -> None:
        self.free = [device for device in self.free if device.name not in devices]
        self.cores -= entry.cores
        self.memory_mb -= entry.memory_mb
        self.started.append((entry, devices))

    def ends(self, now: float) -> list[tuple[float, QueueEntry, tuple[str, ...]]]:
        """What runs, the soonest to end first; of what starts now, unbounded jobs are first."""
        found = [(expected_end(entry, now), entry, entry.slots) for entry in self.running]
        found += [(now + (longest_run_s(one) or 0.0), one, on) for one, on in self.started]
        return sorted(found, key=lambda end: end[0])


def _reserve(head: QueueEntry, room: _Room, now: float) -> _Reservation | None:
    """What it will take once enough of the running jobs have ended; None where that is never.

    Devices of running jobs come first, so that it needs few of those that are free now.
    """
    names = {device.name: device for device in room.machine.devices}
    given, cores, memory = [], room.cores, room.memory_mb
    ends = room.ends(now)
    for at, (end, entry, devices) in enumerate(ends, 1):
        given += [names[name] for name in devices if name in names]
        cores, memory = cores + entry.cores, memory + entry.memory_mb
        if head.cores > cores or head.memory_mb > memory or (head.is_exclusive and at < len(ends)):
            continue
        chosen = room.machine.choose(head, [*given, *room.free]) if head.request.gpus else ()
        if chosen is not None:
            if head.is_exclusive:
                return _Reservation(end, frozenset(names), -1, -1)
            return _Reservation(end, frozenset(chosen), cores - head.cores, memory - head.memory_mb)
    return None


def _backfill(
    behind: Sequence[QueueEntry], room: _Room, reserved: _Reservation, now: float
) -> list[Start]:
    """Wide and long jobs first, which fill the room best. While a job overstays that was let past
    by its prediction, only limits count. Where one found no room, others that ask for the same are
    not tried: a long array must not hide what stands behind it."""
    trusted = not any(one.backfilled and is_overdue(one, now) for one in room.running)
    starts = []
    hopeless: set[tuple[Request, bool, bool]] = set()
    for entry in sorted(behind, key=lambda one: (-one.request.gpus, -(longest_run_s(one) or 0.0))):
        longest = longest_run_s(entry, by_prediction=trusted)
        in_time = longest is not None and now + longest <= reserved.at
        kind = entry.request, entry.is_exclusive, in_time
        if kind in hopeless or len(hopeless) >= _MOST_TRIED:
            continue
        devices = room.fit(entry, frozenset() if in_time else reserved.devices)
        if devices is None or not (in_time or reserved.has_room_for(entry)):
            hopeless.add(kind)
            continue
        room.take(entry, devices)
        if not in_time:
            reserved.spare_cores -= entry.cores
            reserved.spare_memory_mb -= entry.memory_mb
        starts.append(Start(entry, devices, backfilled=True))
    return starts

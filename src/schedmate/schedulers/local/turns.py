"""Fair turns between the users of one queue: who has used less lately goes first.

Each user's own jobs keep their own order; how they interleave depends on GPU-seconds only, which
count half after an hour. So a user with 500 jobs does not lock out one with a single job, and a
nice number moves a job among its user's jobs alone.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from schedmate.schedulers.local.entry import QueueEntry

T = TypeVar("T")

HALF_LIFE_S: Final = 3600.0
MEMORY_S: Final = 8 * HALF_LIFE_S
"""What ended earlier counts for nothing."""
CHARGE_S: Final = 600.0
"""A GPU that is held, or about to be, counts as so many seconds in advance: users who have used
nothing yet take turns, too."""
WITHOUT_GPU: Final = 0.125
"""What a job without GPUs counts as."""


class RecentUse:
    """GPU-seconds by user, those of long ago weighing less; times may come in any order."""

    def __init__(self, half_life_s: float = HALF_LIFE_S) -> None:
        self._rate = math.log(2) / half_life_s
        self._sums: dict[str, float] = {}
        """As of `_at`."""
        self._at = 0.0

    def add(self, user: str, gpus: int, start: float, end: float) -> None:
        """A run that has ended."""
        self._move_to(max(self._at, end))
        self._sums[user] = self._sums.get(user, 0.0) + self._weighed(gpus, start, end)

    def by_user(self, now: float, running: Iterable[tuple[str, int, float]]) -> dict[str, float]:
        """With what runs: user, GPUs and start of each; what is held is charged in advance."""
        self._move_to(max(self._at, now))
        found = defaultdict(float, self._sums)
        for user, gpus, start in running:
            found[user] += self._weighed(gpus, start, self._at) + charge(gpus)
        return found

    def _weighed(self, gpus: int, start: float, end: float) -> float:
        """The integral of what each second counts at `_at`."""
        newest, oldest = (
            math.exp(-self._rate * (self._at - moment)) for moment in (end, min(start, end))
        )
        return _size(gpus) * (newest - oldest) / self._rate

    def _move_to(self, at: float) -> None:
        faded = math.exp(-self._rate * (at - self._at)) if self._sums else 1.0
        self._at = at
        self._sums = {user: faded * sum_ for user, sum_ in self._sums.items() if faded * sum_ > 1.0}


def charge(gpus: int) -> float:
    return _size(gpus) * CHARGE_S


def take_turns(
    waiting: Sequence[T],
    used: Mapping[str, float],
    *,
    user_of: Callable[[T], str],
    gpus_of: Callable[[T], int],
) -> list[T]:
    """All of them, each user's in the given order, always of the user with the least so far.

    Among users with the same, the one whose job comes first in the given order.
    """
    queues: dict[str, deque[tuple[int, T]]] = defaultdict(deque)
    for place, job in enumerate(waiting):
        queues[user_of(job)].append((place, job))
    heads = [(used.get(user, 0.0), queue[0][0], user) for user, queue in queues.items()]
    heapq.heapify(heads)
    ordered = []
    while heads:
        so_far, _, user = heads[0]
        _, job = queues[user].popleft()
        ordered.append(job)
        if queues[user]:
            heapq.heapreplace(heads, (so_far + charge(gpus_of(job)), queues[user][0][0], user))
        else:
            heapq.heappop(heads)
    return ordered


class UserTurns:
    """The turns of the users of a queue, by the runs that have ended and those that go on."""

    def __init__(self, ended: Iterable[QueueEntry]) -> None:
        self._use = RecentUse()
        for entry in ended:
            if entry.end_time is not None:
                self.note(entry, entry.end_time)

    def note(self, entry: QueueEntry, end: float) -> None:
        """A run that has ended then."""
        if entry.start_time is not None:
            self._use.add(entry.user, entry.request.gpus, entry.start_time, end)

    def order(
        self, ready: Sequence[QueueEntry], running: Iterable[QueueEntry], now: float
    ) -> list[QueueEntry]:
        held = [(one.user, one.request.gpus, one.start_time or now) for one in running]
        return take_turns(
            ready,
            self._use.by_user(now, held),
            user_of=lambda entry: entry.user,
            gpus_of=lambda entry: entry.request.gpus,
        )


def _size(gpus: int) -> float:
    return gpus or WITHOUT_GPU

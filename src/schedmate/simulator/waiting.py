"""The waiting line, ordered like every scheduler's: by nice number, then by submission."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import Request
    from schedmate.simulator.traces import TraceJob


@dataclass(slots=True, eq=False)
class Run:
    """A trace job on its way through the simulation; `order` is its place by submission."""

    job: TraceJob
    order: int
    request: Request
    nice: int = 0
    start: float | None = None
    end: float | None = None


_Entry = tuple[int, int, Run]


class WaitingLine:
    """Strict: nobody overtakes the head of the line. First fit: whoever fits goes, in order.

    One heap for each GPU count that is waited for (strict: one in all), because within such a
    heap either the head fits or nobody does. A changed nice number is a new entry; the old one
    is dropped when it comes up.
    """

    def __init__(self, *, first_fit: bool) -> None:
        self._first_fit = first_fit
        self._heaps: dict[int, list[_Entry]] = {}

    def put(self, run: Run) -> None:
        """Let a run wait at its present nice number, whether or not it waited elsewhere."""
        size = run.job.gpus if self._first_fit else 0
        heappush(self._heaps.setdefault(size, []), (run.nice, run.order, run))

    def take(self, free: int) -> Run | None:
        """Remove and return who goes next on `free` GPUs."""
        best: list[_Entry] | None = None
        for heap in self._heaps.values():
            _drop_stale(heap)
            fits = heap and heap[0][2].job.gpus <= free
            if fits and (best is None or heap[0] < best[0]):
                best = heap
        return heappop(best)[2] if best else None


def _drop_stale(heap: list[_Entry]) -> None:
    while heap and (heap[0][2].start is not None or heap[0][0] != heap[0][2].nice):
        heappop(heap)

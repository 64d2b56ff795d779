"""The daemon in compressed time: `schedmate` whose orderings count in seconds of the trace.

    python -m bench.live.compressed_time serve

The scale of an ordering is made for jobs of minutes to a week, and a job that has not been read yet
stands in its middle, at 7.4 GPU hours. With run times of seconds that middle is behind all others.
So costs are multiplied by the speed: every job gets the nice number that it has in the trace.
A job without a prediction counts as one that was served for as much less than half an hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.live.replayed_jobs import SPEED
from schedmate.cli import main
from schedmate.core import preemption
from schedmate.policies.orderings import ORDERINGS
from schedmate.policies.orderings.sjf import SjfOrdering
from schedmate.policies.orderings.ssf import SsfOrdering

if TYPE_CHECKING:
    from schedmate.policies import Candidate, Ordering


class _Sjf(SjfOrdering):
    def cost(self, candidate: Candidate) -> float | None:
        return _at_trace_speed(super().cost(candidate))


class _Ssf(SsfOrdering):
    def cost(self, candidate: Candidate) -> float | None:
        return _at_trace_speed(super().cost(candidate))


def _at_trace_speed(cost: float | None) -> float | None:
    return None if cost is None else SPEED * cost


COMPRESSED: dict[str, type[Ordering]] = {**ORDERINGS, "sjf": _Sjf, "ssf": _Ssf}


_UNKNOWN_S = preemption._UNKNOWN_S / SPEED  # noqa: SLF001 - no site has compressed time


def compress() -> None:
    """Of this process."""
    ORDERINGS.update(COMPRESSED)
    preemption.__dict__["_UNKNOWN_S"] = _UNKNOWN_S


if __name__ == "__main__":
    compress()
    main()

"""Time limits for backfill: lowered towards the prediction while a job waits, given back in time.

A scheduler that backfills plans by limits, and users ask for far more than they need. A limit is
lowered only to a quantile that hardly any run of its kind exceeds, and the user's own limit is
given back as soon as the run might miss the lowered one: no run is to end by a limit of ours.

On Slurm both are `scontrol update JobId=N TimeLimit=MINUTES` by an operator: a user could lower a
limit of their own, but not raise it again, so for them nothing is lowered. A limit that the
scheduler still shows lowered is given back again every minute, in every mode. Limits are lowered
only while a daemon runs; one that stops gives all of them back first. After a crash they stay
lowered until the next daemon, at 1.5 times the 99th percentile of the prediction or more.

Where Slurm runs with `time_min_as_soft_limit`, limits stay as they are. A site that sets
`time_limits.soft` lets backfill plan with the job's TimeMin, the 90th percentile of the prediction;
nothing has to be given back. It is off until a real Slurm has shown a gain: in simulations jobs
waited longer. Without that flag TimeMin would let backfill shorten the limit for good, and is never
set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.model.advice import Z90

if TYPE_CHECKING:
    from schedmate.model import Job, Prediction, Spread

_Z99 = 2.3263
"""As `Z90`, of the 99th percentile."""
_KNOWN_CODE = ("identical", "same_code", "similar")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    lower: bool = False
    """Whether the site lets limits be lowered at all."""
    margin: float = 1.25
    """Times the 99th percentile of the prediction."""
    shortest_s: float = 1800.0
    soft: bool = False
    """Whether backfill is given a time to plan with where the limit stays as it is."""
    worth_it: float = 0.8
    """A limit is lowered only below that share of what the user asked for."""
    extend_s: float = 0.0
    """By how much the limit of a running job may be raised beyond what its user asked for."""
    carry_on: int = 0
    """How often a job is queued again before its limit, to go on from its last checkpoint."""
    guard_s: float = 600.0
    guard_share: float = 0.2
    """How long before a lowered limit the user's own is given back: the longer of the two."""

    def lowered(self, job: Job, prediction: Prediction | None) -> float | None:
        """The limit for a waiting job; None where it keeps its own."""
        limit = job.request.time_limit_s
        if not self.lower or limit is None or prediction is None:
            return None
        if prediction.duration_s is None or prediction.basis not in _KNOWN_CODE:
            return None
        needed = max(self.shortest_s, self.margin * p99(prediction.duration_s))
        ours = 60.0 * math.ceil(needed / (1.0 - self.guard_share) / 60.0)
        return ours if ours < self.worth_it * limit else None

    def planned(self, job: Job, prediction: Prediction | None) -> float | None:
        """What backfill should plan with where the limit alone ends the run; None: its limit."""
        limit = job.request.time_limit_s
        spread = None if prediction is None else prediction.duration_s
        if not self.soft or limit is None or spread is None:
            return None
        ours = 60.0 * max(1, math.ceil(spread.p90 / 60.0))
        return ours if ours < self.worth_it * limit else None

    def too_short(self, job: Job, limit_s: float, at: float, ends_at: float | None) -> bool:
        """Whether the run might still be there when a limit of ours is over; `ends_at` is by when
        its progress lets it end."""
        if job.start_time is None:
            return False
        deadline = job.start_time + limit_s
        guard = max(self.guard_s, self.guard_share * limit_s)
        return max(at, at if ends_at is None else ends_at) > deadline - guard


def p99(spread: Spread) -> float:
    """Of the log-normal distribution with this median and 90th percentile."""
    if spread.p50 <= 0:
        return spread.p90
    return float(spread.p50 * (spread.p90 / spread.p50) ** (_Z99 / Z90))

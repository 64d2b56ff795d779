"""From a decision and the history of the same job to the next step.

The table (`handler/decision.py`) says what would help; this says whether it is still worth it.
Only reasons, numbers and names of nodes count. No free text does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

from schedmate.core.attempts import Attempt, Reached, got_further, same_failure
from schedmate.core.doomed_limits import DoomedLimits
from schedmate.core.drains import DrainLimits
from schedmate.core.fairness import FairnessLimits
from schedmate.core.hangs import HangLimits
from schedmate.core.holds import HoldLimits
from schedmate.core.preemption import PreemptionLimits
from schedmate.core.scope import Scope
from schedmate.core.sharing import SharingLimits
from schedmate.model import SURE_ENOUGH, JobId, ReasonCode, Retry

_WAIT_S, _WAIT_GROWTH = 60.0, 5.0
"""An outage of a service lasts a minute, or an hour."""
_PAUSE_S, _PAUSE_GROWTH = 30.0, 2.0
"""Before the second retry of any other kind; the first one is made at once."""
_SPREAD = 0.5
"""Jobs that wait for the same thing come back over that share of the time, not all at once."""
_LONG_RUN_S = 2 * 3600.0
"""So much work is not thrown away for a hang that is only suspected."""
_EXCLUDED_SHARE = 4
"""Of the nodes that could run it, one in so many may be taken away from a job."""
_HELD_SHARE = 1 / 3
"""Of the time that a scheduler holds a run that has ended, all of which must not go by."""
_EXCLUDED_BLINDLY = 4
"""Where it is not known how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLimits:
    """Bounds that no text in a log, a script or an answer can move.

    Runs that ended before `act_since` are remembered but no longer acted upon.
    """

    retries: int = 2
    """In a row, without getting any further."""
    retries_in_all: int = 10
    longest_wait_s: float = 3600.0
    settle_s: float = 0.0
    """So long after the end of a run its owner may submit it again before a retry is decided."""
    act_since: float = 0.0
    nice_at_submission: int = 0
    """What the submit hook gives to every job: a new one does not stand first until it is seen."""
    hang: HangLimits = field(default_factory=HangLimits)
    hold: HoldLimits = field(default_factory=HoldLimits)
    fairness: FairnessLimits = field(default_factory=FairnessLimits)
    scope: Scope = field(default_factory=Scope)
    drain: DrainLimits = field(default_factory=DrainLimits)
    doomed: DoomedLimits = field(default_factory=DoomedLimits)
    preemption: PreemptionLimits = field(default_factory=PreemptionLimits)
    sharing: SharingLimits = field(default_factory=SharingLimits)

    def settled_at(self, ended: float | None, held_for_s: float | None) -> float:
        """From when on a retry is decided; of a run that has not ended, at once."""
        if ended is None or not self.settle_s:
            return float("-inf")
        most_s = self.settle_s if held_for_s is None else _HELD_SHARE * held_for_s
        return ended + min(self.settle_s, most_s)


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """The nodes that could run the job now by what it asks for, and how many it needs.

    None are up where the scheduler does not say: then none is taken away.
    """

    up: frozenset[str]
    needed: int = 1
    required: frozenset[str] = frozenset()
    """Those that the job asks for by name."""
    excluded: frozenset[str] = frozenset()
    """Those that it is kept from already, by its user or by earlier retries."""
    picky: bool = False
    """Other nodes are up too, but the job's own constraints rule them out."""

    @property
    def spare(self) -> int:
        return len(self.up) - self.needed

    @property
    def indispensable(self) -> frozenset[str]:
        """Nodes that are up without which the job cannot start."""
        return self.up if self.picky and self.spare <= 0 else self.up & self.required


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPlan:
    again: bool
    code: ReasonCode
    exclude_nodes: tuple[str, ...] = ()
    delay_s: float = 0.0
    used: int = 0
    """Retries so far that did not get the job further."""
    allowed: int = 0


def plan_retry(
    attempts: Mapping[int, Attempt],
    attempt: int,
    *,
    limits: DecisionLimits,
    choice: NodeChoice | None = None,
    job_id: JobId = "",
    spared: frozenset[int] = frozenset(),
) -> RetryPlan:
    """Say whether attempt `attempt + 1` is worth it, given how every attempt went.

    `spared` are attempts that were well and queued again by us: what came after them was no retry.
    """
    decision = attempts[attempt].diagnosis.decision
    used = _used(attempts, attempt, spared)
    objection = _objection(attempts, attempt, used, limits, len(spared)) or _insistence(
        attempts[attempt], choice
    )
    if objection is not None:
        allowed = limits.retries_in_all if objection == "all_retries_used" else limits.retries
        return RetryPlan(again=False, code=objection, used=used, allowed=allowed)
    return RetryPlan(
        again=True,
        code="worth_a_retry",
        exclude_nodes=_excluded(attempts, attempt, choice),
        delay_s=_delay_s(decision.retry, used, limits.longest_wait_s, job_id),
        used=used,
        allowed=limits.retries,
    )


def _objection(
    attempts: Mapping[int, Attempt], attempt: int, used: int, limits: DecisionLimits, spared: int
) -> ReasonCode | None:
    """Why it is not tried again, None where nothing speaks against it."""
    found = attempts[attempt].diagnosis
    if found.decision.retry == "no":
        return "not_worth_a_retry"
    if attempt - spared >= limits.retries_in_all:
        return "all_retries_used"
    if used >= limits.retries:
        return "retries_used"
    if used and found.confidence < SURE_ENOUGH:
        return "unsure_again"
    return _against_stopping(attempts, attempt) or _in_vain(attempts, attempt, used)


def _insistence(now: Attempt, choice: NodeChoice | None) -> ReasonCode | None:
    """Why a job that should go elsewhere cannot."""
    decision = now.diagnosis.decision
    if choice is None or decision.retry != "elsewhere":
        return None
    stuck = choice.indispensable.intersection(decision.exclude_nodes)
    return "nodes_required" if stuck else None


def _against_stopping(attempts: Mapping[int, Attempt], attempt: int) -> ReasonCode | None:
    """Why a run that is still there goes on, None for one that has ended or may be stopped."""
    now = attempts[attempt]
    if now.hung is None:
        return None
    if any(one.seemed_to_hang for one in _before(attempts, attempt, count=attempt)):
        return "hang_retried"
    if not (now.hung.stuck or now.hung.wanted):
        return "may_only_wait"
    ran_s = now.hung.ran_s
    long = ran_s is None or ran_s > _LONG_RUN_S
    if long and not now.hung.idle and _starts_over(now.reached):
        return "work_at_risk"
    return None


def _starts_over(reached: Reached) -> bool:
    """Whether all is lost: its code does not resume, or no checkpoint was seen to resume from."""
    return not reached.saves if reached.resumes is None else not reached.resumes


def _in_vain(attempts: Mapping[int, Attempt], attempt: int, used: int) -> ReasonCode | None:
    """Why one more retry would end like the last. A service that is away is away again."""
    now = attempts[attempt]
    reason, retry = now.diagnosis.reason, now.diagnosis.decision.retry
    since = _before(attempts, attempt, count=used)
    if reason == "time_limit" and _stood_still(attempts, attempt):
        return "no_further"
    if retry not in ("resume", "wait") and any(same_failure(one, now) for one in since):
        return "same_failure"
    return None


def _used(attempts: Mapping[int, Attempt], attempt: int, spared: frozenset[int]) -> int:
    """Retries since one last got the job further; what is not known did not."""
    used = 0
    for number in range(1, attempt + 1):
        further = number - 1 in spared or _further(attempts, number)
        used = 0 if further else used + 1
    return used


def _stood_still(attempts: Mapping[int, Attempt], attempt: int) -> bool:
    return attempt > 0 and _further(attempts, attempt) is False


def _further(attempts: Mapping[int, Attempt], attempt: int) -> bool | None:
    if attempt not in attempts:
        return None
    before = _before(attempts, attempt, count=attempt)
    return got_further([one.reached for one in before], attempts[attempt].reached)


def _before(attempts: Mapping[int, Attempt], attempt: int, *, count: int) -> list[Attempt]:
    """The last `count` attempts before this one, as far as they are known."""
    return [attempts[number] for number in range(attempt - count, attempt) if number in attempts]


def _delay_s(retry: Retry, used: int, longest_s: float, job_id: JobId) -> float:
    """A short pause from the second retry on; longer, and spread by job, to wait for something."""
    if retry == "wait":
        spread = 1 + _SPREAD * crc32(job_id.encode(errors="replace")) / 2**32
        return float(min(_WAIT_S * _WAIT_GROWTH ** min(used, 20), longest_s) * spread)
    return float(min(_PAUSE_S * _PAUSE_GROWTH ** min(used - 1, 20), longest_s)) if used else 0.0


def _excluded(
    attempts: Mapping[int, Attempt], attempt: int, choice: NodeChoice | None
) -> tuple[str, ...]:
    """All nodes blamed so far, the first ones first: a scheduler keeps them out already."""
    blamed = dict.fromkeys(
        node
        for one in [*_before(attempts, attempt, count=attempt), attempts[attempt]]
        for node in one.diagnosis.decision.exclude_nodes
    )
    if choice is None:
        return tuple(blamed)[:_EXCLUDED_BLINDLY]
    if choice.spare < 0:  # it waits for nodes to come back: take none away
        return ()
    left = min(max(1, len(choice.up) // _EXCLUDED_SHARE), choice.spare)
    avoidable = [node for node in blamed if node not in choice.required | choice.excluded]
    usable_ones = [node for node in avoidable if node in choice.up][:left]
    return tuple(node for node in avoidable if node not in choice.up or node in usable_ones)

"""From a reason and its evidence to the next step: a small, fixed, versioned table.

Nothing that a log or a model wrote is read here, only ids, numbers and what the scheduler says
of its nodes. What the history of the job makes of the decision is for `core/retry.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from schedmate.handler.nodes import node_faults
from schedmate.model import REASONS, SURE_ENOUGH, Decision, Retry
from schedmate.model.failures import GPU_FAULTS
from schedmate.model.nodes import may_be_at_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.handler.case import Case

TABLE_VERSION: Final = 5

_WHY: Final[dict[Retry, str]] = {
    "no": "the same run would fail again",
    "same": "it may well go through a second time",
    "elsewhere": "other nodes may do",
    "resume": "it was taken away, not broken: go on from the last checkpoint",
    "wait": "what it needs from outside may come back",
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that the table looks at."""

    reason: str
    case: Case
    blamed: tuple[str, ...] = ()
    """Nodes of the case that the evidence names."""
    confidence: float = 1.0
    also: frozenset[str] = frozenset()
    """What else the run's evidence shows, by reason."""
    local_disk: bool = False
    """The disk that failed it belongs to one node."""
    recurs: bool = False
    """The evidence itself shows that the same run would meet it again."""
    by_model: bool = False
    """Nothing but a model gives the reason."""

    @property
    def usual(self) -> Retry:
        return REASONS[self.reason].retry

    @property
    def unsure(self) -> bool:
        return self.confidence < SURE_ENOUGH

    @cached_property
    def faulty(self) -> tuple[str, ...]:
        """Nodes of the case that the scheduler reports as faulty."""
        faults = node_faults(self.case).items()
        return tuple(node for node, reason in faults if may_be_at_fault(node, reason))

    @property
    def resumes(self) -> bool | None:
        """None where its code was not read, or does not show it."""
        resumes = self.case.workload.resumes if self.case.workload else None
        return None if resumes is None else resumes.value


@dataclass(frozen=True, slots=True)
class Row:
    """The step and its reason for the first row whose condition holds."""

    when: Callable[[Facts], bool]
    retry: Retry | None
    """None means the usual one."""
    why: str = ""


TABLE: Final = (
    Row(lambda f: f.reason == "not_failed", "no", "there is nothing to repeat"),
    Row(lambda f: f.reason == "unknown", "no", "no retry without a known cause"),
    Row(lambda f: f.reason == "cancelled", "no", "it was cancelled on purpose"),
    Row(lambda f: f.case.complete, "no", "its work was done before that"),
    Row(
        lambda f: f.reason == "time_limit" and f.resumes is False,
        "no",
        "it does not resume by itself and would meet the same limit",
    ),
    Row(
        lambda f: f.reason == "time_limit" and f.case.workload is None,
        "no",
        "its code was not read, so it may start over and meet the same limit",
    ),
    Row(
        lambda f: f.reason == "time_limit" and not f.resumes,
        "no",
        "nothing shows that it resumes by itself, so it may start over and meet the same limit",
    ),
    Row(lambda f: f.usual in ("no", "resume"), None),
    Row(
        lambda f: f.by_model and f.usual == "elsewhere",
        "no",
        "only a model says so, and no node is left out for that",
    ),
    Row(
        lambda f: f.usual in ("same", "wait") and bool(f.faulty) and not f.by_model,
        "elsewhere",
        "a node it ran on is out of order",
    ),
    Row(
        lambda f: f.usual == "same" and bool(f.also & GPU_FAULTS) and not f.by_model,
        "elsewhere",
        "the hardware failed beside it",
    ),
    Row(lambda f: f.recurs, "no", "the same call would fail again"),
    Row(
        lambda f: f.reason == "disk_full" and f.local_disk,
        "wait",
        "a disk of its node is full, others may not be",
    ),
    Row(lambda _: True, None),
)
"""Asked from the top. A reason whose usual answer is no, all of the user's own among them, is never
tried again whatever else is known."""


def decide(
    reason: str,
    case: Case,
    *,
    blamed: tuple[str, ...] = (),
    confidence: float = 1.0,
    also: frozenset[str] = frozenset(),
    local_disk: bool = False,
    recurs: bool = False,
    by_model: bool = False,
) -> Decision:
    """Choose the step for a reason of the taxonomy; the rest is as in `Facts`."""
    facts = Facts(
        reason=reason,
        case=case,
        blamed=blamed,
        confidence=confidence,
        also=also,
        local_disk=local_disk,
        recurs=recurs,
        by_model=by_model,
    )
    row = next(row for row in TABLE if row.when(facts))
    retry = row.retry or facts.usual
    excluded, because = _excluded(facts, retry)
    words = [row.why or _WHY[retry], because, *_caution(facts, retry)]
    return Decision(
        retry=retry,
        exclude_nodes=excluded,
        why=f"{reason}: {'; '.join(word for word in words if word)}",
    )


def blamed_nodes(decision: Decision, case: Case, named: tuple[str, ...]) -> tuple[str, ...]:
    """Nodes that the evidence blames; a suspect without evidence is avoided, not blamed."""
    faulty = tuple(node_faults(case))
    at_fault = faulty or named
    return at_fault if set(at_fault) <= set(decision.exclude_nodes) else ()


def _caution(facts: Facts, retry: Retry) -> list[str]:
    return ["not sure, so it is tried once"] if facts.unsure and retry != "no" else []


def _excluded(facts: Facts, retry: Retry) -> tuple[tuple[str, ...], str]:
    """Nodes to avoid and why, the best evidence first; a guess takes no node away."""
    if facts.by_model or (retry != "elsewhere" and not (retry == "wait" and facts.local_disk)):
        return (), ""
    if facts.faulty:
        return facts.faulty, f"the scheduler has taken {_listed(facts.faulty)} out"
    if facts.unsure:
        return (), ""
    if facts.blamed:
        return facts.blamed, ""
    suspects = _suspects(facts.case)
    return suspects, f"{_listed(suspects)} failed others too" if suspects else ""


def _suspects(case: Case) -> tuple[str, ...]:
    """At most half of its nodes: where more are suspect, it is not the nodes."""
    suspects = tuple(node for node in case.nodes if node in case.suspects)
    return suspects if 2 * len(suspects) <= len(case.nodes) else ()


def _listed(nodes: tuple[str, ...]) -> str:
    shown, more = nodes[:4], len(nodes) - 4
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

"""From a reason to the next step: a small, fixed, versioned table.

Nothing that a log or a model wrote is read here, only ids, numbers and node names that the
scheduler gave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schedmate.model import REASONS, Decision, Retry

if TYPE_CHECKING:
    from schedmate.handler.case import Case

TABLE_VERSION: Final = 1

_WHY: Final[dict[Retry, str]] = {
    "no": "the same run would fail again",
    "same": "it may well go through a second time",
    "elsewhere": "other nodes may do",
    "resume": "it was taken away, not broken: go on from the last checkpoint",
    "wait": "what it needs from outside may come back",
}


def decide(reason: str, case: Case, *, blamed: tuple[str, ...] = ()) -> Decision:
    """Choose the step for a reason of the taxonomy; `blamed` are nodes of the case."""
    retry = REASONS[reason].retry
    if reason == "not_failed":
        return Decision(retry="no", why="not_failed: there is nothing to repeat")
    if reason == "unknown":
        return Decision(retry="no", why="unknown: no retry without a known cause")
    if reason == "cancelled":
        return Decision(retry="no", why="cancelled: somebody wanted it to end")
    if reason == "time_limit" and _starts_over(case):
        return Decision(
            retry="no",
            why="time_limit: it does not resume by itself and would meet the same limit",
        )
    return Decision(
        retry=retry,
        exclude_nodes=blamed if retry == "elsewhere" else (),
        why=f"{reason}: {_WHY[retry]}",
    )


def _starts_over(case: Case) -> bool:
    resumes = case.workload.resumes if case.workload else None
    return resumes is not None and not resumes.value

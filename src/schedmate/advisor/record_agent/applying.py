"""From a record and checked changes to the record that holds, with what stays disputed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Final

from schedmate.advisor.record_agent.checking import Checked
from schedmate.model import Finding, Workload

IN_USE, AGREED, DISPUTED = 0.85, 0.7, 0.5
_PROVES: Final = frozenset({"resumes"})
_ASKED_OF_THE_SCHEDULER: Final = "<request>"


def differing(workload: Workload, checked: Iterable[Checked]) -> list[Checked]:
    """Without what the record says already, and what the scheduler itself was asked for."""
    return [each for each in checked if _differs(getattr(workload, each.field), each)]


def apply_changes(
    workload: Workload, changes: Iterable[Checked], agreed: Collection[str]
) -> Workload:
    """`agreed` are fields about which two samples say the same.

    What holds takes the place of the reader's value. What does not is noted beside it; a field
    that the reader left open stays open.
    """
    found: dict[str, Finding[Any] | None] = {}
    for each in changes:
        before: Finding[Any] | None = getattr(workload, each.field)
        holds = each.in_use or each.field in agreed
        if holds and before is not None and each.field in _PROVES:
            found[each.field] = _beside(before, each)
        elif holds:
            found[each.field] = _finding(each)
        elif before is not None:
            sure = min(before.confidence, DISPUTED)
            found[each.field] = replace(before, confidence=sure, disputed=each.value)
    return replace(workload, **found)


def _beside(before: Finding[Any], change: Checked) -> Finding[Any]:
    """Decisions go by what was read: it stays in sight whatever a model says."""
    new = _finding(change)
    if new is None:
        return replace(before, confidence=min(before.confidence, DISPUTED))
    return replace(new, disputed=before.value)


def _finding(change: Checked) -> Finding[Any] | None:
    if change.value is None:
        return None
    sure = IN_USE if change.in_use else AGREED
    return Finding(value=change.value, source="llm", evidence=change.evidence, confidence=sure)


def _differs(before: Finding[Any] | None, change: Checked) -> bool:
    if before is None:
        return change.value is not None
    if any(line.file == _ASKED_OF_THE_SCHEDULER for line in before.evidence):
        return False
    return bool(before.value != change.value)

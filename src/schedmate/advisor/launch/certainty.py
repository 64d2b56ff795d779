"""How sure a record is of which it is not certain that its program is the one that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

from schedmate.model import Evidence, Workload

_OF_THE_REQUEST = frozenset(("gpus", "nodes"))
"""Asked for by the job itself, whatever its program is."""


_PRESUMED = 0.7


def presumed(workload: Workload, holds: Callable[[Evidence], bool]) -> Workload:
    """With less confidence in what lines state first that only an unset variable lets run."""
    own = {field.name: getattr(workload, field.name) for field in fields(workload)}
    lowered = {
        name: replace(finding, confidence=min(finding.confidence, _PRESUMED))
        for name, finding in own.items()
        if finding is not None and any(map(holds, finding.evidence[:1]))
    }
    return replace(workload, **lowered)


def at_most(workload: Workload, certainty: float) -> Workload:
    """With no confidence above it."""
    if certainty >= 1:
        return workload
    own = {field.name: getattr(workload, field.name) for field in fields(workload)}
    lowered = {
        name: replace(finding, confidence=min(finding.confidence, certainty))
        for name, finding in own.items()
        if finding is not None and name not in _OF_THE_REQUEST
    }
    return replace(workload, **lowered)

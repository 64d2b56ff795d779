"""A claim: what a reader of a job's code, config or command line states about one field."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.advisor.interpret.python.values import Value
from schedmate.model import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A field of the record as a library will take it; the value is as the job states it.

    `line` is shown where the value has no line of its own (an import, a class's name).
    """

    field: str
    value: Value
    line: Evidence | None = None
    confidence: float = 0.95
    certain: bool = True
    depth: int = 0

"""A claim: what a reader of a job's code, config or command line states about one field."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import Value
from schedmate.model import Evidence, Source


class Kind(IntEnum):
    """How a claim was found; the higher one knows better."""

    NAME = 0
    """A name in the code is called like the field."""
    OPTION = 1
    """An option of the job is called like the field."""
    LIBRARY = 2
    """The value reaches a library, which will use it so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The value is as the job states it, under the `name` that the job has for it.

    `line` is where a library uses it, and is shown behind the lines that set it. `depth` is how
    far the file that states it is from the entry point, `alias` how good a name it has.
    """

    field: str
    value: Value
    kind: Kind = Kind.LIBRARY
    name: str = ""
    line: Evidence | None = None
    confidence: float = 0.95
    reached: Reached = Reached.EXECUTED
    depth: int = 0
    alias: int = 0

    @property
    def certain(self) -> bool:
        return self.reached is Reached.EXECUTED

    @property
    def source(self) -> Source:
        return self.value.source

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        own = () if self.line is None or self.kind is not Kind.LIBRARY else (self.line,)
        return (*dict.fromkeys((*self.value.lines, *own)),)

"""What failures have taught: a correction of one, and the rule that was made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Teacher = Literal["llm", "operator"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who stated it, of which job or log, and when."""

    teacher: Teacher
    by: str
    """The model's name, or the person's."""
    about: str
    at: float
    note: str = ""
    owner: str = ""
    """The user whose log the line is from; only they and operators are shown it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFailure:
    """An answer that rules did not give, and by what the same failure is recognised."""

    id: str
    signatures: tuple[str, ...]
    reason: str
    line: str
    """The line that shows it, as it was printed."""
    confidence: float
    origin: Origin
    rule: str = ""
    """The id of the rule that was made of it."""

    @property
    def corrected(self) -> bool:
        return self.origin.teacher == "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRule:
    """A linear-time (RE2) pattern over one line. One that was refused is kept, and never asked.

    What a model taught is a proposal: it is asked only after a person has accepted it.
    """

    id: str
    reason: str
    pattern: str
    words: tuple[str, ...]
    """Lower-case pieces of which every line it explains has one."""
    positives: tuple[str, ...]
    origin: Origin
    healthy_logs: int = 0
    """How many logs of runs that ended well it was tried on, in vain."""
    refused: str = ""
    """Why it may not answer."""
    enabled: bool = True
    accepted_by: str = ""
    """The person who lets a model's rule answer."""
    hits: int = 0
    last_hit: float | None = None

    @property
    def proposed(self) -> bool:
        """A model's rule that awaits a person's decision."""
        return self.origin.teacher == "llm" and not self.accepted_by and not self.refused

    @property
    def asked(self) -> bool:
        return self.enabled and not self.refused and not self.proposed

"""What a rule is. Its examples are its tests: every positive must be answered by this very
rule, no negative may match it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from schedmate.handler.case import Case
from schedmate.logs.lazy_patterns import LazyPattern
from schedmate.model import REASONS
from schedmate.model.diagnosis import Reporter

__all__ = ["LazyPattern", "Pattern", "Rule", "Weight", "any_of", "by_name", "typed"]
"""What a file of rules needs."""


class Weight(IntEnum):
    """How far a piece of evidence explains itself; smaller explains more."""

    DECISIVE = 0
    """The scheduler ended the run; what the log shows is a consequence."""
    CAUSE = 1
    SYMPTOM = 2
    """Often the echo of something else: a lost peer, a signal, an exit code."""
    WRAPPER = 3
    """Only reports a failure elsewhere."""


class Pattern(Protocol):
    """A pattern of `re` or of RE2."""

    @property
    def pattern(self) -> str: ...

    def search(self, string: str, /) -> object | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Either a pattern over one line of text or a predicate over the case."""

    name: str
    """Kebab-case and unique within its reason; stored diagnoses refer to it, so it stays."""
    reason: str
    learned: bool = False
    pattern: Pattern | None = None
    """Without look-arounds and back-references, so that RE2 can read it too."""
    unless: Pattern | None = None
    """What makes a line harmless that the pattern matches."""
    predicate: Callable[[Case], bool] | None = None
    reported_by: Reporter = "job"
    """Reporter of what the predicate looks at; exit codes and signals are the job's own.
    A line's reporter is its log's."""
    errors_only: bool = False
    """The pattern is meant for `Type: message` of an exception, not for any line."""
    confidence: float
    weight: Weight = Weight.CAUSE
    outlives_success: bool = False
    """Counts even for a run with exit code 0."""
    fatal: bool = False
    """No process goes on after such a line, even where it is printed and not raised."""
    of_a_file: bool = False
    """The calls show what kind of file it is about, and thereby the reason."""
    of_a_step: bool = False
    """A node failed a step: the scheduler's state of the job does not show it."""
    names_node: LazyPattern | None = None
    """Its group is the node, in a line below that a launcher writes with the one that matches."""
    lasting: bool = False
    """The run survived it once more calm lines follow than it lasted."""
    recurs: bool = False
    """The same run would meet it again, though others of its reason often pass."""
    suggestion: str = ""
    """Better advice than the reason's own."""
    words: tuple[str, ...] = ()
    """Lower-case words of which every line it explains has one, where the pattern has no needle."""
    positives: tuple[str | Case, ...]
    negatives: tuple[str | Case, ...] = ()

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"no such reason: {self.reason}")
        if (self.pattern is None) == (self.predicate is None):
            raise ValueError(f"{self.reason}: a rule has a pattern or a predicate")

    @property
    def id(self) -> str:
        """`gpu_oom/device-allocator`; a learned rule's name is unique by itself."""
        return self.name if self.learned else f"{self.reason}/{self.name}"

    def matches_text(self, text: str) -> bool:
        if self.pattern is None or self.pattern.search(text) is None:
            return False
        return self.unless is None or self.unless.search(text) is None

    def matches_case(self, case: Case) -> bool:
        return self.predicate is not None and self.predicate(case)


_FILTERED = r"(?:[\w.]{1,80}UnfilteredStackTrace: )?"
"""What JAX puts before the exception that it shows again."""


def any_of(*messages: str) -> LazyPattern:
    return LazyPattern("|".join(messages))


def typed(*types: str) -> str:
    """The beginning of `Type: message`, with or without the type's module."""
    return rf"^{_FILTERED}(?:[\w.]{{1,120}}\.)?(?:{'|'.join(types)})(?::|$)"


def by_name(reason: str, *types: str, examples: tuple[str, ...], confidence: float = 0.85) -> Rule:
    """An exception known by its type alone."""
    return Rule(
        name="exception-type",
        reason=reason,
        pattern=LazyPattern(typed(*types)),
        errors_only=True,
        confidence=confidence,
        positives=(types[0], *(f"{types[0]}: {example}" for example in examples)),
        negatives=(f"no {types[0]} here", f"{types[0]}Counter: 3"),
    )

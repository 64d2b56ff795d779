"""The contract of a framework: one value says how it is configured and what that means.

A framework gets its settings through one of its doors (a config file and the command line, the
keywords of a constructor, options that another program parsed). Whatever the door, they become one
tree of `Settings`, and one table says which setting is which field of the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from schedmate.advisor.frameworks.base import Reader, Reading
from schedmate.advisor.frameworks.calls import Place
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    KnownPrefix,
    LocalClass,
    LocalFunction,
    Table,
    Value,
)
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_TRUE = frozenset({"true", "yes", "on", "1"})
_OPEN = frozenset({"auto", "???", "", "none", "null"})
_UNSURE = 0.25


@dataclass(frozen=True, slots=True)
class Settings:
    """What a framework is configured with: a tree of values, by dotted names.

    `at` is the call that hands them over; None where a command line or a config does. `words` are
    those of the command line that are neither flags nor settings. `started` is whether they are
    those of the framework's own program.
    """

    tree: Value
    reading: Reading
    at: Place | None = None
    words: tuple[Word, ...] = ()
    confidence: float = 0.95
    started: bool = False

    @property
    def callee(self) -> str:
        """The dotted name of what is called with them, or ""."""
        return self.at.callee if isinstance(self.at, Call) else ""

    def implied(self, data: Any) -> Value | None:
        """What the call states by being made."""
        return None if self.at is None else Value(data, (self.at.line,))

    def get(self, name: str) -> Value | None:
        return select(self.tree, name)

    def first(self, names: str) -> Value | None:
        """The first of these settings that is stated."""
        return next((found for name in names.split() if (found := stated(self.get(name)))), None)

    def is_on(self, name: str) -> bool:
        value = self.get(name)
        return value is not None and is_on(value)

    def text(self, names: str) -> str:
        value = self.first(names)
        return str(value.data) if value is not None and value.plain else ""

    def read(self, path: object) -> Value | None:
        return self.reading.read_config(path) if isinstance(path, str) and path else None

    def claim(self, name: str, value: Value, *, confidence: float = 0.95) -> Claim:
        confidence = min(confidence, self.confidence)
        if self.at is None:
            return Claim(field=name, value=value, confidence=confidence)
        sure = self.at.reached is Reached.EXECUTED
        return Claim(
            field=name,
            value=value,
            line=self.at.line,
            confidence=confidence if sure else confidence - _UNSURE,
            reached=self.at.reached,
            depth=self.at.depth,
        )


Rule = Callable[[Settings], Value | None]
"""The value of one field; None where the settings do not state it."""
Door = Callable[[Reading], Iterator[Settings]]
"""The settings that reach the framework this way; nothing where none do."""
Claims = Callable[[Settings], Iterator[Claim]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A job as it is started, its files, and exactly the claims about it."""

    command: str
    claims: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """`settings` is the one table: a field to the names of settings of which the first that is
    stated counts, or to a rule. `program` is the door of its own program, `calls` that of a job's
    code, `options` that of programs which have its options; the first that yields settings counts.
    What its `launcher` hands over counts besides, and less. `others` are claims that another
    framework's table makes of a part of the settings; `readers` see in code what no table can say.
    """

    settings: Mapping[str, str | Rule] = field(default_factory=dict)
    program: Door | None = None
    calls: Door | None = None
    options: Door | None = None
    launcher: Door | None = None
    others: tuple[Claims, ...] = ()
    readers: tuple[Reader, ...] = ()
    confidence: Mapping[str, float] = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()

    def claims(self, reading: Reading, *, started: bool, own_code: bool = False) -> Iterator[Claim]:
        """By the first door through which settings come, the launcher, and the readers."""
        program = self.program if started else None
        doors = (self.calls, program) if own_code else (program, self.calls)
        for settings in (*_first(reading, *doors, self.options), *_first(reading, self.launcher)):
            yield from self.claims_of(settings)
        for reader in self.readers:
            yield from reader(reading)

    def claims_of(self, settings: Settings) -> Iterator[Claim]:
        for name, rule in self.settings.items():
            value = settings.first(rule) if isinstance(rule, str) else rule(settings)
            if value is not None:
                yield settings.claim(name, value, confidence=self.confidence.get(name, 0.95))
        for others in self.others:
            yield from others(settings)


def _first(reading: Reading, *doors: Door | None) -> list[Settings]:
    """All settings of the first door through which any come."""
    found = (list(door(reading)) for door in doors if door is not None)
    return next((settings for settings in found if settings), [])


def stated(value: Value | None) -> Value | None:
    """Not null, not `auto`, not `???`; of a path that is not known as a whole the directory."""
    if value is None or value.data is None:
        return None
    if isinstance(value, KnownPrefix):
        return value if value.directory else None
    if isinstance(value.data, (Dotted, LocalClass, LocalFunction)):
        return value
    if not value.known or not value.plain:
        return None
    return None if isinstance(value.data, str) and value.data.strip().lower() in _OPEN else value


def is_on(value: Value | None) -> bool:
    """Whether a switch is on; on a command line it is a word."""
    if value is None or not value.plain:
        return False
    return value.data is True or str(value.data).strip().lower() in _TRUE


def restated(value: Value, data: Any) -> Value:
    """The same statement, as the record puts it."""
    return Value(data, value.lines, value.source)


def table_of(parts: Mapping[str, Value]) -> Value:
    return Value(Table(dict(parts)))

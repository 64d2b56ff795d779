"""The contract of a reader: one way in which jobs state their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from schedmate.advisor.modules import Module
from schedmate.advisor.shell import Word
from schedmate.model import Evidence, Source

UNSTATED = object()
"""A value that is computed, or a variable nobody knows: it hides what would hold otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A value under the name that the job gives it, not yet understood.

    `depth` is how far the file that says so is from the entry point.
    """

    name: str
    value: Any
    source: Source
    evidence: tuple[Evidence, ...]
    confidence: float
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What there is to read: the files that run, configs in Python, and the command line."""

    modules: tuple[Module, ...]
    configs: tuple[Module, ...] = ()
    arguments: tuple[Word, ...] = ()


class Reader(Protocol):
    """Fulfilled by one small module each; reading never raises, whatever the files hold."""

    @property
    def name(self) -> str: ...

    def read(self, reading: Reading) -> Iterator[Stated]: ...

"""What reading the logs yields."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.handler.reading.lines import LogLine
from schedmate.handler.rules import Rule
from schedmate.model.diagnosis import Reporter


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """A rule that matched and where; no line where the scheduler's verdict itself speaks."""

    rule: Rule
    confidence: float
    reported_by: Reporter = "job"
    line: LogLine | None = None
    shown: tuple[LogLine, ...] = ()
    """The line itself, then what helps to understand it."""
    chain: tuple[LogLine, ...] = ()
    """The other errors that were raised with it."""
    below: tuple[LogLine, ...] = ()
    """The next lines: some of them may say it better."""
    message: str = ""
    uncaught: bool = False
    """Comes from a traceback, not from a line that looks like one."""
    began: int = 0
    ended: int = 0
    calm_after: int = 0
    final: bool = True
    """Belongs to the last episode of its log."""
    at: float | None = None
    """When it was written, on the log's own clock; of the nearest stamped line before it."""
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    """All that show the same, once it is known to be the cause."""
    stream: str = ""
    """What all lines of the same process begin with, in this file."""
    node: str = ""
    attempt: int = 0
    """Which try of the run within its logs."""
    went_on: bool = False
    """The same process did afterwards what it had done before."""
    last_words: bool = False
    """The same process wrote no calm line afterwards: it died there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    clues: tuple[Clue, ...] = ()
    tail: tuple[LogLine, ...] = ()
    unreadable: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Those of the unreadable ones that are there, or may be."""
    lines: int = 0
    readable: bool = False
    """Some log holds text; empty files and random bytes do not."""

"""One pass over the logs, in bounded memory, for whatever may explain a failure.

Lines are judged by an episode: a failure is the last burst of evidence in a log. What was
followed by many calm lines was survived.
"""

from __future__ import annotations

import io
import re
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from schedmate.handler.reading.lines import LogLine, Page, blocks, pieces, read_line
from schedmate.handler.reading.prefilter import Prefilter
from schedmate.handler.reading.tracebacks import Chain, Traceback, TracebackCollector
from schedmate.handler.rules import BUILT_IN, Rule, RuleBook, Weight

if TYPE_CHECKING:
    from schedmate.handler.case import Case, NamedLog

EPISODE_GAP: Final = 50
"""Calm lines that end an episode."""
LATE: Final = 200
"""An episode with more calm lines after it was survived."""
_TAIL_LINES: Final = 30
_TAIL_BYTES: Final = 1 << 16
_MOST_HITS: Final = 5000
_MOST_TEMPLATES: Final = 20_000
_TRIES: Final = 64
_BARE_DISCOUNT: Final = 0.88

_TALK = re.compile(r"^.{0,100}?(?<!NCCL )\bWARN(?:ING)?\b|\b[A-Z]\w{0,60}Warning: ")
_ECHO = re.compile(
    r"\bSIG(?:TERM|KILL)\b|[Kk]illing subprocess|closing signal|^(?:srun|slurmstepd): "
)
"""What launchers say while they clear up: no evidence, and no sign of life either."""
_BARE_ERROR = re.compile(
    r"(?: {2,40}\| )?((?:[a-zA-Z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|Exception|Interrupt)"
    r"(?:\(\w{1,80}\))?(?:: .*|:?$))"
)
_PROBING: Final = {"key_error", "attribute_error", "index_error", "python_exception", "type_error"}
"""Exceptions that code raises and catches to find its way; not what a run dies of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """A rule that matched and where; no line where the scheduler's verdict itself speaks."""

    rule: Rule
    confidence: float
    line: LogLine | None = None
    shown: tuple[LogLine, ...] = ()
    message: str = ""
    uncaught: bool = False
    """Comes from a traceback, not from a line that looks like one."""
    began: int = 0
    ended: int = 0
    calm_after: int = 0
    final: bool = True
    """Belongs to the last episode of its log."""


@dataclass(slots=True)
class _Hit:
    """The first line of a rule's latest episode, and how long that lasted."""

    rule: Rule
    confidence: float
    line: LogLine
    began: int
    ended: int

    def clue(self) -> Clue:
        return Clue(
            rule=self.rule,
            confidence=self.confidence,
            line=self.line,
            shown=(self.line,),
            message=self.line.text,
            began=self.began,
            ended=self.ended,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    clues: tuple[Clue, ...] = ()
    tail: tuple[LogLine, ...] = ()
    unreadable: tuple[str, ...] = ()
    lines: int = 0


def gather(case: Case, book: RuleBook = BUILT_IN) -> Gathered:
    """Read every log of the case once."""
    clues: list[Clue] = []
    tail: list[LogLine] = []
    unreadable: list[str] = []
    lines = 0
    for order, log in enumerate(case.logs):
        name = str(log) if isinstance(log, Path) else log.name
        reader = _LogReader(name, order, book)
        try:
            with _opened(log) as stream:
                reader.read(stream)
        except OSError:
            unreadable.append(name)
            continue
        clues += reader.clues()
        tail += reader.tail()
        lines += reader.lines
    return Gathered(clues=tuple(clues), tail=tuple(tail), unreadable=tuple(unreadable), lines=lines)


def _opened(log: Path | NamedLog) -> BinaryIO:
    content = log if isinstance(log, Path) else log.content
    return content.open("rb") if isinstance(content, Path) else io.BytesIO(content)


class _LogReader:
    """One log. `_calm` counts the lines that are no evidence: the clock of the episodes."""

    def __init__(self, name: str, order: int, book: RuleBook) -> None:
        self._name = name
        self._order = order
        self._book = book
        self._number = 1
        self._calm = 0
        self._filter = Prefilter(book)
        self._tracebacks = TracebackCollector()
        self._tries: dict[bytes, int] = {}
        self._known: dict[bytes, _Hit] = {}
        self._hits: dict[tuple[int, str], _Hit] = {}
        self._last_bytes = b""

    @property
    def lines(self) -> int:
        return self._number - 1 + (not self._last_bytes.endswith(b"\n") and bool(self._last_bytes))

    def read(self, stream: BinaryIO) -> None:
        for block in blocks(stream):
            news = self._filter.news(block)
            if news or self._tracebacks.busy:
                self._walk(Page.of(block, self._number), news)
            else:
                self._calm += block.count(b"\n") or block.count(b"\r")
            self._number += block.count(b"\n")
            self._last_bytes = (self._last_bytes + block[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    def _walk(self, page: Page, news: set[bytes]) -> None:
        """Jump from one alarming line to the next; what lies between is calm."""
        alarming = [index for index, key in enumerate(page.templates) if key in news]
        at = self._burst(page, news, 0) if self._tracebacks.busy else 0
        for index in alarming:
            if index >= at:
                self._calm += index - at
                at = self._burst(page, news, index)
        self._calm += len(page.raws) - at

    def _burst(self, page: Page, news: set[bytes], index: int) -> int:
        """Look at this line, and at the next ones while a traceback is being written."""
        while index < len(page.raws):
            self._look(page, news, index)
            index += 1
            if not self._tracebacks.busy:
                break
        return index

    def _look(self, page: Page, news: set[bytes], index: int) -> None:
        key = page.templates[index]
        if not self._tracebacks.busy and (key not in news or self._seen_again(key)):
            self._calm += key not in news
            return
        number = page.numbers[index]
        line = read_line(page.raws[index], file=self._name, order=self._order, number=number)
        if self._tracebacks.feed(line, self._calm):
            return
        if key not in news:
            self._calm += 1
        elif not self._judge(line, key):
            self._calm += 1
            if self._tries[key] >= _TRIES:
                self._filter.calm_down(key)
                news.discard(key)

    def _seen_again(self, key: bytes) -> bool:
        """A line that is well known as evidence only makes its episode longer."""
        hit = self._known.get(key)
        if hit is None or self._calm - hit.ended > EPISODE_GAP:
            return False
        hit.ended = self._calm
        return True

    def _judge(self, line: LogLine, key: bytes) -> bool:
        """Ask the rules, but not for ever about lines that differ only in their digits."""
        found = _explain_line(line.text, self._book)
        if len(self._tries) > _MOST_TEMPLATES:
            self._tries.clear()
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        if found is not None:
            hit = self._note(*found, line)
            if tries >= _TRIES and len(self._known) < _MOST_TEMPLATES:
                self._known[key] = hit
            return True
        return _ECHO.search(line.text) is not None

    def _note(self, rule: Rule, confidence: float, line: LogLine) -> _Hit:
        key = (id(rule), line.stream if len(self._hits) < _MOST_HITS else "")
        hit = self._hits.get(key)
        if hit is not None and self._calm - hit.ended <= EPISODE_GAP:
            hit.ended = self._calm
        else:
            hit = self._hits[key] = _Hit(rule, confidence, line, self._calm, self._calm)
        return hit

    def clues(self) -> list[Clue]:
        """All clues in order of their lines, each told whether it belongs to the end."""
        chains = (
            _explain_chain(found.tracebacks, found.mark, self._book)
            for found in self._tracebacks.found
        )
        hits = (hit.clue() for hit in self._hits.values())
        clues = [*hits, *(clue for clue in chains if clue is not None)]
        clues.sort(key=lambda clue: clue.ended, reverse=True)
        told: list[Clue] = []
        edge, gap, final = self._calm, LATE, True
        for clue in clues:
            final = final and edge - clue.ended <= gap
            edge, gap = min(edge, clue.began), EPISODE_GAP
            told.append(replace(clue, final=final, calm_after=self._calm - clue.ended))
        return told

    def tail(self) -> list[LogLine]:
        first = self._number - self._last_bytes.count(b"\n")
        last: deque[LogLine] = deque(maxlen=_TAIL_LINES)
        for number, raw in pieces(self._last_bytes, first):
            if raw.strip():
                last.append(read_line(raw, file=self._name, order=self._order, number=number))
        return [line for line in last if line.text]


def _explain_line(text: str, book: RuleBook) -> tuple[Rule, float] | None:
    if _TALK.search(text):
        return None
    bare = _BARE_ERROR.match(text)
    if bare:
        rule = book.for_error(bare.group(1))
        return None if rule is None else (rule, rule.confidence * _BARE_DISCOUNT)
    rule = book.for_line(text)
    return None if rule is None else (rule, rule.confidence)


def _explain_chain(chain: Chain, mark: int, book: RuleBook) -> Clue | None:
    """The original of a chain explains it, unless it was only probing or wrapping."""
    explained = [
        (rule, traceback)
        for traceback in chain
        if (rule := book.for_error(traceback.message)) is not None
    ]
    if not explained:
        return None
    rule, traceback = _original(explained)
    return Clue(
        rule=rule,
        confidence=rule.confidence,
        line=traceback.error,
        shown=traceback.shown,
        message=traceback.message,
        uncaught=True,
        began=mark,
        ended=mark,
    )


def _original(explained: list[tuple[Rule, Traceback]]) -> tuple[Rule, Traceback]:
    strongest = min(rule.weight for rule, _ in explained)
    able = [pair for pair in explained if pair[0].weight == strongest]
    first = able[0]
    if first[0].reason in _PROBING and strongest is Weight.CAUSE:
        clearer = [pair for pair in able[1:] if pair[0].reason not in _PROBING]
        if clearer and clearer[0][1].link == "context":
            return clearer[0]
    return first

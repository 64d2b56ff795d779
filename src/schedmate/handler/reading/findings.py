"""What was found in one log so far, by rule and process; in the end, its clues.

Lines are judged by an episode: a failure is the last burst of evidence in a log. What was
followed by many calm lines was survived.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from schedmate.handler.reading.clues import Clue
from schedmate.handler.reading.explaining import explain_chain
from schedmate.handler.reading.life import Fate
from schedmate.handler.reading.lines import LogLine
from schedmate.handler.reading.tracebacks import Chain, Traceback
from schedmate.handler.rules import Rule, RuleBook

EPISODE_GAP: Final = 50
"""Calm lines that end an episode."""
LATE: Final = 200
"""An episode with more calm lines after it was survived."""
_MOST_HITS: Final = 5000
_MOST_CHAINS: Final = 2000
_FIRST_TO_FAIL = re.compile(
    r"Root Cause \(first observed failure\):(?:\n.{0,200}){0,3}?\n\s{0,4}host {1,12}: (\S{1,200})"
    r"\s{0,4}\n\s{0,4}rank {1,12}: (\d{1,6})"
)


Below = Callable[[], tuple[LogLine, ...]]
"""Makes the next lines."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the log stood: `calm` counts the lines that are no evidence, the episodes' clock."""

    calm: int
    at: float | None
    attempt: int


@dataclass(slots=True)
class Hit:
    """The first line of a rule's latest episode, and how long that lasted."""

    rule: Rule
    confidence: float
    line: LogLine
    began: Moment
    ended: int
    fate: Fate
    below: Below = tuple


@dataclass(frozen=True, slots=True)
class _Raised:
    chain: Chain
    when: Moment
    fate: Fate
    below: Below


class Findings:
    def __init__(self, book: RuleBook) -> None:
        self._book = book
        self._hits: dict[tuple[int, str, int], Hit] = {}
        self._raised: deque[_Raised] = deque(maxlen=_MOST_CHAINS)

    def again(self, hit: Hit, calm: int) -> bool:
        """The same episode goes on."""
        if calm - hit.ended > EPISODE_GAP:
            return False
        hit.ended = calm
        return True

    def known(self, rule: Rule, line: LogLine, attempt: int) -> Hit | None:
        return self._hits.get(self._key(rule, line, attempt))

    def note(self, hit: Hit) -> Hit:
        self._hits[self._key(hit.rule, hit.line, hit.began.attempt)] = hit
        return hit

    def raised(self, chain: Chain, when: Moment, fate: Fate, below: Below = tuple) -> None:
        self._raised.append(_Raised(chain, when, fate, below))

    def clues(self, calm: int) -> list[Clue]:
        """All clues, the latest first, each told whether it belongs to the end."""
        chains = (_clue_of_chain(raised, self._book) for raised in self._raised)
        hits = (_clue_of_hit(hit) for hit in self._hits.values())
        clues = [*hits, *(clue for clue in chains if clue is not None)]
        clues.sort(key=lambda clue: clue.ended, reverse=True)
        told: list[Clue] = []
        edge, gap, final = calm, LATE, True
        for clue in clues:
            final = final and edge - clue.ended <= gap
            edge, gap = min(edge, clue.began), EPISODE_GAP
            told.append(replace(clue, final=final, calm_after=calm - clue.ended))
        return told

    def _key(self, rule: Rule, line: LogLine, attempt: int) -> tuple[int, str, int]:
        return id(rule), line.stream if len(self._hits) < _MOST_HITS else "", attempt


def _clue_of_hit(hit: Hit) -> Clue:
    return Clue(
        rule=hit.rule,
        confidence=hit.confidence,
        line=hit.line,
        shown=(hit.line,),
        below=hit.below(),
        message=hit.line.text,
        began=hit.began.calm,
        ended=hit.ended,
        at=hit.began.at,
        rank=hit.line.rank,
        stream=hit.line.stream,
        node=hit.line.node,
        attempt=hit.began.attempt,
        last_words=not hit.fate.went_on,
    )


def _clue_of_chain(raised: _Raised, book: RuleBook) -> Clue | None:
    explained = explain_chain(raised.chain, book)
    if explained is None:
        return None
    rule, confidence, traceback = explained
    line = traceback.error or traceback.inner or traceback.head
    host, rank = _first_to_fail(traceback)
    return Clue(
        rule=rule,
        confidence=confidence,
        line=line,
        shown=traceback.shown,
        chain=tuple(one.error for one in raised.chain if one.error and one is not traceback),
        below=raised.below(),
        message=traceback.message,
        uncaught=True,
        began=raised.when.calm,
        ended=raised.when.calm,
        at=raised.when.at,
        rank=line.rank if rank is None else rank,
        stream=line.stream,
        node=host or line.node,
        attempt=raised.when.attempt,
        last_words=not raised.fate.went_on,
    )


def _first_to_fail(traceback: Traceback) -> tuple[str, int | None]:
    """Host and rank that torchrun's table names as the root cause."""
    found = _FIRST_TO_FAIL.search("\n".join([traceback.message, *traceback.beneath]))
    return (found[1], int(found[2])) if found else ("", None)

"""What reading the logs yields, and how matches of one log become clues.

A rule's matches form episodes. A failure is the last episode of a log; the run survived an episode
that many calm lines follow. A calm line is one that no rule matches.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from schedmate.handler.reading.explaining import explain_chain
from schedmate.handler.reading.lines import LogLine
from schedmate.handler.reading.liveness import Survival
from schedmate.handler.reading.tracebacks import Chain, Traceback
from schedmate.handler.rules import Rule, RuleSet
from schedmate.model.diagnosis import Reporter


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """A rule's match and its place; without a line where the scheduler's verdict itself matched."""

    rule: Rule
    confidence: float
    reported_by: Reporter = "job"
    line: LogLine | None = None
    shown: tuple[LogLine, ...] = ()
    """The line itself, then what helps to understand it."""
    chain: tuple[LogLine, ...] = ()
    """The other errors that were raised with it."""
    below: tuple[LogLine, ...] = ()
    """The next lines: some of them may show the cause better."""
    announced: tuple[LogLine, ...] = ()
    """Lines above that state the message before it is raised."""
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
    """The same process wrote no calm line afterwards."""


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


EPISODE_GAP: Final = 50
"""Calm lines that end an episode."""
LATE: Final = 200
"""An episode with more calm lines after it was survived."""
_LEAST_WORDS: Final = 20
_TELLING_LENGTH: Final = 80
"""Letters of a message that another line must share to be about the same error."""
_MOST_EPISODES: Final = 5000
_MOST_CHAINS: Final = 2000
_FIRST_TO_FAIL = re.compile(
    r"Root Cause \(first observed failure\):(?:\n.{0,200}){0,3}?\n\s{0,4}host {1,12}: (\S{1,200})"
    r"\s{0,4}\n\s{0,4}rank {1,12}: (\d{1,6})"
)


Lines = Callable[[], tuple[LogLine, ...]]
"""Makes the next lines, or those before."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Where the log stood: `calm` counts the lines that are no evidence, the episodes' clock."""

    calm: int
    at: float | None
    attempt: int


@dataclass(slots=True)
class Episode:
    """The first line of a rule's latest episode, and how long that lasted."""

    rule: Rule
    confidence: float
    line: LogLine
    began: LogPosition
    ended: int
    survival: Survival
    below: Lines = tuple


@dataclass(frozen=True, slots=True)
class _RaisedChain:
    chain: Chain
    when: LogPosition
    survival: Survival
    below: Lines
    above: Lines


class ClueCollector:
    def __init__(self, rule_set: RuleSet) -> None:
        self._rule_set = rule_set
        self._episodes: dict[tuple[int, str, int], Episode] = {}
        self._raised: deque[_RaisedChain] = deque(maxlen=_MOST_CHAINS)

    def again(self, episode: Episode, calm: int) -> bool:
        """The same episode goes on."""
        if calm - episode.ended > EPISODE_GAP:
            return False
        episode.ended = calm
        return True

    def known(self, rule: Rule, line: LogLine, attempt: int) -> Episode | None:
        return self._episodes.get(self._key(rule, line, attempt))

    def note(self, episode: Episode) -> Episode:
        self._episodes[self._key(episode.rule, episode.line, episode.began.attempt)] = episode
        return episode

    def raised(
        self,
        chain: Chain,
        when: LogPosition,
        survival: Survival,
        below: Lines = tuple,
        above: Lines = tuple,
    ) -> None:
        self._raised.append(_RaisedChain(chain, when, survival, below, above))

    def clues(self, calm: int) -> list[Clue]:
        """All clues, the latest first, marked where they belong to the end."""
        chains = (_clue_of_chain(raised, self._rule_set) for raised in self._raised)
        episodes = (_clue_of_episode(episode) for episode in self._episodes.values())
        clues = [*episodes, *(clue for clue in chains if clue is not None)]
        clues.sort(key=lambda clue: clue.ended, reverse=True)
        marked: list[Clue] = []
        edge, gap, final = calm, LATE, True
        for clue in clues:
            final = final and edge - clue.ended <= gap
            edge, gap = min(edge, clue.began), EPISODE_GAP
            marked.append(replace(clue, final=final, calm_after=calm - clue.ended))
        return marked

    def _key(self, rule: Rule, line: LogLine, attempt: int) -> tuple[int, str, int]:
        return id(rule), line.stream if len(self._episodes) < _MOST_EPISODES else "", attempt


def _clue_of_episode(episode: Episode) -> Clue:
    return Clue(
        rule=episode.rule,
        confidence=episode.confidence,
        line=episode.line,
        shown=(episode.line,),
        below=episode.below(),
        message=episode.line.text,
        began=episode.began.calm,
        ended=episode.ended,
        at=episode.began.at,
        rank=episode.line.rank,
        stream=episode.line.stream,
        node=episode.line.node,
        attempt=episode.began.attempt,
        last_words=not episode.survival.went_on,
    )


def _clue_of_chain(raised: _RaisedChain, rule_set: RuleSet) -> Clue | None:
    explained = explain_chain(raised.chain, rule_set)
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
        announced=_announced(raised),
        message=traceback.message,
        uncaught=True,
        began=raised.when.calm,
        ended=raised.when.calm,
        at=raised.when.at,
        rank=line.rank if rank is None else rank,
        stream=line.stream,
        node=host or line.node,
        attempt=raised.when.attempt,
        last_words=not raised.survival.went_on,
    )


def _announced(raised: _RaisedChain) -> tuple[LogLine, ...]:
    """What a logger or a native library printed of an exception before it was raised."""
    messages = (one.message.partition("\n")[0].partition(": ")[2] for one in raised.chain)
    words = [message[:_TELLING_LENGTH] for message in messages if len(message) >= _LEAST_WORDS]
    if not words:
        return ()
    return tuple(line for line in raised.above() if any(part in line.text for part in words))


def _first_to_fail(traceback: Traceback) -> tuple[str, int | None]:
    """Host and rank that torchrun's table names as the root cause."""
    found = _FIRST_TO_FAIL.search("\n".join([traceback.message, *traceback.beneath]))
    return (found[1], int(found[2])) if found else ("", None)


_MOST_TEMPLATES: Final = 20_000
_LONGEST_TEMPLATE: Final = 400
_TRIES: Final = 64


class Harmless(Enum):
    CALM = 1
    ECHO = 2
    """No evidence, and no sign of life either."""


Verdict = Episode | Harmless


class KnownLines:
    def __init__(self) -> None:
        self.verdicts: dict[bytes, Verdict] = {}
        self.calm: set[bytes] = set()
        self._tries: dict[bytes, tuple[Verdict, int]] = {}

    def learn(self, key: bytes, verdict: Verdict) -> None:
        """Keep the verdict of a template once enough of its lines had the same one."""
        if len(key) > _LONGEST_TEMPLATE:
            return
        if len(self._tries) > _MOST_TEMPLATES:
            self._tries.clear()
            self.verdicts.clear()
            self.calm.clear()
        before, times = self._tries.get(key, (verdict, 0))
        times = times + 1 if before is verdict else 1
        self._tries[key] = (verdict, times)
        if times >= _TRIES:
            self.verdicts[key] = verdict
            if verdict is Harmless.CALM:
                self.calm.add(key)

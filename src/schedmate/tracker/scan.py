"""What the lines of one log have stated so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.model import Checkpoint, EndsBy, LearnedPattern, Phase
from schedmate.tracker.counting.series import Stamps, Times
from schedmate.tracker.counting.table import LEARNED, SeriesTable
from schedmate.tracker.failure_signs import FatalEnding, WarningSigns
from schedmate.tracker.forecasting.timeline import Timeline
from schedmate.tracker.formats import Sighting
from schedmate.tracker.formats.csvlog import CsvHeader, CsvRows
from schedmate.tracker.line_reader import Ranks, more_specific, read, shape_of
from schedmate.tracker.tailing.lines import clean
from schedmate.tracker.unknown import Learner, Question

if TYPE_CHECKING:
    from schedmate.tracker.unknown import Roles

_TABLES = CsvHeader()
_MAX_METRICS = 64
_MAX_LINKS = 4
_MAX_AFTER_THE_END = 4
_MAX_NEWEST = 300
_PAUSES: tuple[Phase, ...] = ("evaluating", "checkpointing")


@dataclass(slots=True)
class LogScan:
    """Fed with lines in order; `order` counts them, so that later facts beat earlier ones.

    All of it is state that goes into JSON and comes back.
    """

    started_at: float | None = None
    table: SeriesTable = field(default_factory=SeriesTable)
    ending: FatalEnding = field(default_factory=FatalEnding)
    warning_signs: WarningSigns = field(default_factory=WarningSigns)
    ranks: Ranks = field(default_factory=Ranks)
    metrics: dict[str, float] = field(default_factory=dict)
    totals: dict[str, float] = field(default_factory=dict)
    """What the log announced that it will count, by unit; `step/epoch` for those of an epoch."""
    checkpoint: Checkpoint | None = None
    epoch: float | None = None
    hint: Phase | None = None
    counts: int = 0
    """How many lines counted something ..."""
    ended: Phase | None = None
    counts_when_ended: int = 0
    """... and how many had done so when a line declared the training over."""
    ended_by: EndsBy | None = None
    cap_s: float | None = None
    links: tuple[str, ...] = ()
    format: str | None = None
    order: int = 0
    stamps: Stamps = field(default_factory=Stamps)
    written: Timeline = field(default_factory=Timeline)
    """How many lines were there when, as long as nothing better is counted."""
    newest: str = ""
    """The newest line, cut; empty where it counted something and so announced nothing."""
    rows: CsvRows | None = None
    learner: Learner | None = None
    """Studies lines that no format knows, as long as nothing better is counted."""

    def feed(self, lines: Sequence[bytes], now: float | None) -> None:
        for line in lines:
            self.order += 1
            rank, text = self.ranks.unwrap(clean(line))
            self.ending.see(text)
            text = text.strip()
            self.newest = text[:_MAX_NEWEST] or self.newest
            self._read(line, text, rank, now)
        if now is not None and not self.table.series:
            self.written.add(now, self.order)

    def peek(self, line: bytes, now: float | None) -> None:
        """A bar whose line has not ended: believed only if it is closed, not half a number."""
        text = clean(line).strip()
        if text.endswith("]"):
            self._read(line, text, None, now)

    def adopt(self, pattern: LearnedPattern) -> None:
        """Read this log as an earlier one of the same code was read."""
        self.learner = Learner()
        self.learner.adopt(pattern)

    @property
    def pattern(self) -> LearnedPattern | None:
        """What was learnt about this log, where it is needed."""
        return None if self.learner is None else self.learner.pattern

    def question(self) -> Question | None:
        """What a model could answer about lines that no format reads."""
        if self.learner is None or self.table.has_total():
            return None
        return self.learner.question()

    def settle(self, question: Question, answer: Roles) -> None:
        if self.learner is not None and self.learner.settle(question, answer) is not None:
            self.table.forget(LEARNED)
            self._replay(self.learner)

    def _read(self, line: bytes, text: str, rank: int | None, now: float | None) -> None:
        shape = shape_of(line, text)
        if shape.may_warn:
            self.warning_signs.see(text, self.order)
        found = read(shape, text) or self._row(text)
        if found is not None:
            name, sighting = found
            self._take(name, sighting, rank, self._times(text, sighting.at, now))
        elif text and not self.table.has_total():
            self._study(text, rank, now)

    def _row(self, text: str) -> tuple[str, Sighting] | None:
        """A row of the table whose header came before, or nothing."""
        row = None if self.rows is None else self.rows.read(text)
        if row is not None:
            return _TABLES.name, row
        self.rows = _TABLES.read(text) or self.rows
        return None

    def _study(self, text: str, rank: int | None, now: float | None) -> None:
        learner = self.learner = self.learner or Learner()
        known = learner.reading
        times = self._times(text, None, now)
        sighting = learner.feed(text, self.order, times.stamp.at if times.stamp else now)
        if known and learner.reading != known:
            self.table.forget(LEARNED)
        self._replay(learner)
        if sighting is not None:
            self._take(LEARNED, replace(sighting, confidence=learner.confidence), rank, times)

    def _replay(self, learner: Learner) -> None:
        """Lines that came before their format was known count from the first of them."""
        for line in learner.replay():
            stamp = self.stamps.again(line.at)
            times = Times(None if stamp else line.at, stamp, self.started_at)
            sighting = replace(line.sighting, confidence=learner.confidence)
            self.table.see(LEARNED, sighting, line.order, times)

    def _times(self, text: str, own: float | None, now: float | None) -> Times:
        return Times(now, self.stamps.read(text, own), self.started_at)

    @property
    def pausing(self) -> bool:
        """The newest hint is that it evaluates or saves."""
        return self.hint in _PAUSES

    def declared(self, end: Phase) -> bool:
        """In words, with no more than a last evaluation after them."""
        return self.ended == end and self.counts - self.counts_when_ended <= _MAX_AFTER_THE_END

    def _take(self, name: str, sighting: Sighting, rank: int | None, times: Times) -> None:
        if sighting.current is not None:
            if not self.ranks.counts(rank):
                return
            self.ending.progressed()
            self.newest = ""
            self.table.see(name, sighting, self.order, times)
            self._claim(name)
        elif sighting.total is not None and sighting.unit is not None:
            key = f"{sighting.unit}/epoch" if sighting.per_epoch else sighting.unit
            self.totals[key] = sighting.total
        self._take_words(sighting)
        for metric, value in sighting.metrics.items():
            self._metric(metric, value)

    def _take_words(self, sighting: Sighting) -> None:
        if sighting.current is not None or sighting.phase is not None:
            self.hint = sighting.phase
        if sighting.phase in ("finished", "failed"):
            self.ended, self.counts_when_ended = sighting.phase, self.counts
        elif sighting.phase in _PAUSES:
            self.table.pause(sighting.phase)
        self.checkpoint = sighting.checkpoint or self.checkpoint
        self.epoch = self.epoch if sighting.epoch is None else sighting.epoch
        self.cap_s = sighting.cap_s or self.cap_s
        self.ended_by = sighting.ended_by or self.ended_by
        for link in sighting.links:
            if link not in self.links and len(self.links) < _MAX_LINKS:
                self.links = (*self.links, link)

    def _metric(self, name: str, value: float) -> None:
        """The newest value of each; one that is no number any more is not shown as the old one."""
        self.metrics.pop(name, None)
        self.warning_signs.value(name, value)
        if math.isfinite(value) and len(self.metrics) < _MAX_METRICS:
            self.metrics[name] = value

    def _claim(self, name: str) -> None:
        """The most specific format names the log: a Trainer draws tqdm's bars, too."""
        if more_specific(name, self.format):
            self.format = name
        if name == LEARNED:
            return
        self.counts += 1
        if self.learner is not None and self.table.has_total():
            self.learner = None
            self.table.forget(LEARNED)

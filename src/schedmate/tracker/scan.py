"""What the lines of one log have stated so far."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedmate.model import Checkpoint, EndsBy, LearnedPattern, Phase
from schedmate.tracker.addresses import without_addresses
from schedmate.tracker.announced import AnnouncedTotals
from schedmate.tracker.counting.series import Stamps, Times
from schedmate.tracker.counting.table import LEARNED, NAMED, PARTS, SeriesTable
from schedmate.tracker.counting.writers import Writers
from schedmate.tracker.curves import LossCurve, LossEnds
from schedmate.tracker.failure_signs import FatalEnding, WarningSigns
from schedmate.tracker.forecasting.step_schedule import StepSchedule, schedule_in
from schedmate.tracker.forecasting.timeline import Timeline
from schedmate.tracker.formats import Sighting
from schedmate.tracker.formats.csvlog import CsvHeader, CsvRows
from schedmate.tracker.formats.parts import part_in
from schedmate.tracker.formats.settings import Settings
from schedmate.tracker.headings import Headings, Sections
from schedmate.tracker.last_words import LastWords, StatedEnd
from schedmate.tracker.line_reader import GENERIC, Ranks, Shape, more_specific, read, shape_of
from schedmate.tracker.line_signs import Signs, states_early_stop
from schedmate.tracker.preliminaries import Preliminaries
from schedmate.tracker.rest_of_line import (
    RestHints,
    completed,
    named_count,
    outer_in,
    span_of_unit,
)
from schedmate.tracker.tailing.lines import clean
from schedmate.tracker.time_pairs import TimePairs
from schedmate.tracker.unknown import Learner, Question
from schedmate.tracker.unknown.declared import DeclaredNumbers

if TYPE_CHECKING:
    from schedmate.tracker.unknown import Roles

_TABLES = CsvHeader()
_SETTINGS = Settings()
_MAX_METRICS = 64
_MAX_LINKS = 4
_MAX_NEWEST = 300
_MAX_HEADING = 40
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
    announced: AnnouncedTotals = field(default_factory=AnnouncedTotals)
    checkpoint: Checkpoint | None = None
    epoch: float | None = None
    hint: Phase | None = None
    counts: int = 0
    """How many lines counted something ..."""
    stated_end: StatedEnd = field(default_factory=StatedEnd)
    """... and how many had done so when a line stated that the training is over."""
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
    trains: bool = False
    """Words, metrics or a framework's own format show that this is a training."""
    grows: bool = False
    """The log names a schedule by which steps will take longer."""
    schedule: StepSchedule | None = None
    """The one that it states in numbers."""
    may_stop_early: bool = False
    closing: LastWords = field(default_factory=LastWords)
    """Common last words of a log, ..."""
    parting: LastWords = field(default_factory=LastWords)
    """... and those that also stand elsewhere: a saved file, a best score, a result."""
    stated: DeclaredNumbers = field(default_factory=DeclaredNumbers)
    """Numbers that the log states, by name, beside no count."""
    writers: Writers = field(default_factory=Writers)
    time_pairs: TimePairs = field(default_factory=TimePairs)
    headings: Headings = field(default_factory=Headings)
    preliminaries: Preliminaries = field(default_factory=Preliminaries)
    sections: Sections = field(default_factory=Sections)
    rows: CsvRows | None = None
    learner: Learner | None = None
    """Studies lines that no format knows, as long as nothing better is counted."""
    losses: LossCurve | None = None  # kept only for those who want to see it
    whole: bool = True
    """Whether it is read from the beginning of its run."""
    loss_ends: LossEnds = field(default_factory=LossEnds)

    def feed(self, lines: Iterable[bytes], now: float | None) -> None:
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
        return None if self.learner is None else self.learner.pattern

    def question(self) -> Question | None:
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
        self.warning_signs.follow(text, self.order)
        bare = without_addresses(text) if shape.addressed else text
        found = read(shape, text, bare) or self._row(text) or self._named(bare)
        self._note_signs(shape.signs, text)
        if found is None or found[1].current is None or found[0] == PARTS:
            self.preliminaries.see(text, named=shape.rest.preliminary)
            self.sections.see(text, self.order, self.counts)
        if found is not None:
            name, sighting = found[0], self._completed(shape, bare, *found)
            self._take(name, sighting, rank, self._times(text, sighting.at, now), text)
            open_ended = sighting.current is None or (sighting.total is None and name != PARTS)
            if name in GENERIC and open_ended:
                self._look_beyond(bare, sighting, shape.rest, rank, now)
            if name == PARTS and sighting.current is None:
                self._take_settings(text)
            if sighting.ordinal == "ended" and sighting.rate_per_s is None:
                self.table.note_span(name, sighting, span_of_unit(text))
        elif text and not self.table.has_total():
            self.stated.see(bare)
            self._study(bare, shape.rest, rank, now, known=False)
        elif shape.stamped:
            self.stamps.read(text, None)

    def _completed(self, shape: Shape, text: str, name: str, sighting: Sighting) -> Sighting:
        if shape.signs.code:  # its sentences may be printed later
            sighting = replace(sighting, phase=None, ended_by=None, checkpoint=None)
        sighting = completed(
            text, sighting, shape.rest, self.announced.by_name, generic=name in GENERIC
        )
        return self.time_pairs.timed(text, sighting) if shape.rest.of_time else sighting

    def _look_beyond(
        self, text: str, sighting: Sighting, rest: RestHints, rank: int | None, now: float | None
    ) -> None:
        """A format that reads lines of any kind, and not where the run ends, may miss the rest."""
        if sighting.current is None:
            self.stated.see(text)
        elif self.announced.has_total_of(sighting):
            return
        if not self.table.has_total():
            self._study(text, rest, rank, now, known=bool(sighting.metrics))

    def _note_signs(self, signs: Signs, text: str) -> None:
        self.trains |= signs.training and not signs.code
        self.grows |= signs.growing
        if signs.scheduled and self.schedule is None:
            self.schedule = schedule_in(text)
        self.may_stop_early |= signs.early_stop and states_early_stop(text)
        if signs.closing:
            self.closing.see(text, self.order, self.counts)
        if signs.parting:
            self.parting.see(text, self.order, self.counts)

    def closed(self) -> bool:
        """A common last word stands among the last lines, and nothing was counted since."""
        return self.closing.stand(self.order, self.counts)

    def parted(self) -> bool:
        """The same with words that are believed only of a log that is not written any more."""
        return self.counts > 0 and self.parting.stand(self.order, self.counts)

    def _row(self, text: str) -> tuple[str, Sighting] | None:
        """A row of the table whose header came before, or nothing."""
        row = None if self.rows is None else self.rows.read(text)
        if row is not None:
            return _TABLES.name, row
        self.rows = _TABLES.read(text) or self.rows
        return None

    def _named(self, text: str) -> tuple[str, Sighting] | None:
        """A count that no format knows, of a thing that the log announced a number of."""
        if not self.announced.by_name or (self.table.has_total() and not self.table.holds(NAMED)):
            return None
        sighting = named_count(text, self.announced.by_name)
        return None if sighting is None else (NAMED, sighting)

    def _take_settings(self, text: str) -> None:
        """A dump that states the number of parts states that of the epochs of each as well."""
        settings = _SETTINGS.read(text)
        if settings is not None and settings.total is not None:
            self.announced.see(settings, settings.total)

    def _study(
        self, text: str, rest: RestHints, rank: int | None, now: float | None, *, known: bool
    ) -> None:
        """`known`: a format has read the metrics of the line."""
        learner = self.learner = self.learner or Learner()
        before = learner.counting
        times = self._times(text, None, now)
        sighting = learner.feed(
            text, self.order, times.stamp.at if times.stamp else now, self.stated
        )
        self._take_heading(text, sighting, times)
        if before[0] and learner.counting != before:
            self.table.forget(LEARNED)
        self._replay(learner)
        if sighting is not None:
            sighting = replace(sighting, confidence=learner.confidence)
            sighting = self.headings.begun(text, sighting, self.order)
            sighting = completed(text, sighting, rest, {}, generic=False)
            sighting = self.time_pairs.timed(text, sighting) if rest.of_time else sighting
            sighting = replace(sighting, metrics={}) if known else sighting
            self._take(LEARNED, sighting, rank, times)
        if sighting is not None or len(text) <= _MAX_HEADING:
            self._take_part(LEARNED, times, text)

    def _take_heading(self, text: str, sighting: Sighting | None, times: Times) -> None:
        """`archive 3/8` holds what is counted below it, unless it is what the lines count."""
        heading = None if sighting else self.headings.see(text, self.counts)
        if heading is not None:
            self.table.see(PARTS, heading, self.order, times)
        if self.headings.of and self.headings.counted_itself(sighting.total if sighting else None):
            self.table.forget_count(PARTS, self.headings.sighting())

    def _replay(self, learner: Learner) -> None:
        """Lines that came before their format was known count from the first of them."""
        for line in learner.replay():
            stamp = self.stamps.again(line.at)
            times = Times(None if stamp else line.at, stamp, self.started_at)
            sighting = replace(line.sighting, confidence=learner.confidence)
            self.table.see(LEARNED, sighting, line.order, times)

    def _times(self, text: str, own: float | None, now: float | None) -> Times:
        return Times(now, self.stamps.read(text, own), self.started_at, self.stamps.span_s)

    @property
    def pausing(self) -> bool:
        return self.hint in _PAUSES

    def declared(self, end: Phase) -> bool:
        """In words, with no more than a last evaluation after them, and no heading of a part."""
        part = self.table.whole_runs()
        begun = part is not None and part.moved > self.stated_end.at
        return self.stated_end.stands(end, self.counts) and not begun

    def _take(
        self, name: str, sighting: Sighting, rank: int | None, times: Times, text: str = ""
    ) -> None:
        if sighting.current is not None:
            if not self.ranks.counts(rank) or self._may_be_a_size(sighting):
                return
            self.ending.progressed()
            self.newest = ""
            sighting = self._of_pause(name, self._of_all_writers(name, sighting, text))
            self._take_around(name, sighting, times, text)
            sighting = self._within_epoch(sighting)
            if name != PARTS and self.preliminaries.holds(name, sighting):
                sighting = replace(sighting, preliminary=True)
            self.table.see(name, sighting, self.order, times)
            announced = self.announced.by_unit.get(sighting.unit or "step")
            if announced and sighting.total is None:
                self.table.note_announced(name, sighting, announced)
            self._claim(name)
            if name not in GENERIC or sighting.unit in ("epoch", "token"):
                self.trains = True
        elif sighting.total is not None:
            self.announced.see(sighting, sighting.total)
        if sighting.steps_per_epoch is not None:
            self.announced.by_unit["step/epoch"] = sighting.steps_per_epoch
        self._take_words(sighting, times)
        self._take_metrics(sighting)
        self.warning_signs.report(sighting, self.epoch, text, self.order, self.counts)

    def _of_pause(self, name: str, sighting: Sighting) -> Sighting:
        """A bar without metrics that begins where an evaluation was announced counts that."""
        apart = self.pausing and sighting.phase is None and name in GENERIC
        if not apart or not self.table.is_beside(name, sighting):
            return sighting
        return replace(sighting, phase=self.hint)

    def _of_all_writers(self, name: str, sighting: Sighting, text: str) -> Sighting:
        """Processes that count side by side have done, on average, so much."""
        kind = self.writers.see(text, sighting) if text else None
        if kind is None or not self.writers.parallel:
            return sighting
        self.table.forget_count(name, sighting)
        known = self.stated.total_of((kind,), len(self.writers.done))
        return self.writers.all_of_them(sighting, known[0] if known else None)

    def _take_around(self, name: str, sighting: Sighting, times: Times, text: str) -> None:
        """The counts that a line names beside the one that it is about, and that hold it."""
        self._take_part(name, times, text)
        may_hold = text[:1] in ("[", "(") or sighting.total is not None
        outer = outer_in(text, sighting) if may_hold and name in GENERIC else None
        if outer is not None:
            self.table.see(name, outer, self.order, times)

    def _take_part(self, name: str, times: Times, text: str) -> None:
        part = part_in(text) if "parts" in self.announced.by_unit and name != PARTS else None
        if part is not None:
            self.table.see(PARTS, part, self.order, times)

    def _may_be_a_size(self, sighting: Sighting) -> bool:
        """`batch 32` counts batches only below the heading of an epoch."""
        if sighting.total is not None or not sighting.series.endswith("batch"):
            return False
        return sighting.epoch is None and self.table.epoch_begun() is None

    def _within_epoch(self, sighting: Sighting) -> Sighting:
        """A count of steps below the heading of an epoch that stated how many it has."""
        each = self.announced.by_unit.get("step/epoch")
        if each is None or sighting.unit != "step" or sighting.epoch is not None:
            return sighting
        if sighting.total is not None or sighting.ordinal or (sighting.current or 0.0) > each:
            return sighting
        epoch = self.table.epoch_begun()
        if epoch is None:
            return sighting
        current, epochs = epoch
        return replace(sighting, total=each, per_epoch=True, epoch=current, epochs=epochs)

    def _take_words(self, sighting: Sighting, times: Times) -> None:
        if sighting.current is not None or sighting.phase is not None:
            self.hint = sighting.phase
        if sighting.phase in ("finished", "failed"):
            self.stated_end.see(sighting.phase, self.order, self.counts)
        elif sighting.phase in _PAUSES:
            self.table.pause(sighting.phase)
        self.checkpoint = sighting.checkpoint_seen(times.polled) or self.checkpoint
        self.epoch = self.epoch if sighting.epoch is None else sighting.epoch
        self.cap_s = sighting.cap_s or self.cap_s
        self.ended_by = sighting.ended_by or self.ended_by
        for link in sighting.links:
            if link not in self.links and len(self.links) < _MAX_LINKS:
                self.links = (*self.links, link)

    def _take_metrics(self, sighting: Sighting) -> None:
        for metric, value in sighting.metrics.items():
            self._metric(metric, value)
        self.loss_ends.add(sighting.metrics)
        if self.losses is not None and sighting.metrics:
            self.losses.add(sighting.metrics, self.table.main())

    def _metric(self, name: str, value: float) -> None:
        """The newest value of each; one that is no number any more is not shown as the old one."""
        self.metrics.pop(name, None)
        if math.isfinite(value) and len(self.metrics) < _MAX_METRICS:
            self.metrics[name] = value

    def _claim(self, name: str) -> None:
        """The most specific format names the log: a Trainer draws tqdm's bars, too."""
        if more_specific(name, self.format):
            self.format = name
        self.counts += 1
        if name == LEARNED:
            return
        if self.learner is not None and self.table.has_total():
            self.learner = None
            self.table.forget(LEARNED)

"""Lines that no exact format reads go in; once their format is learnt, sightings come out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from schedmate.model import BadInput, LearnedPattern
from schedmate.tracker.formats.base import Sighting
from schedmate.tracker.unknown import naming
from schedmate.tracker.unknown.behaviour import CERTAIN, Meaning, meaning_of
from schedmate.tracker.unknown.declared import DeclaredNumbers
from schedmate.tracker.unknown.fields import table_of
from schedmate.tracker.unknown.pattern import compiled, pattern_of, read_with
from schedmate.tracker.unknown.templates import Miner, Samples, Template, fits, masked
from schedmate.tracker.unknown.words import vocabulary

if TYPE_CHECKING:
    from schedmate.tracker.unknown.roles import Roles


_NEAR_START: Final = 0.1
_JUMP: Final = 50.0
_SHARE: Final = 5
_STRIKES: Final = 3
_SILENT: Final = 40
_KNOWN: Final = 5
_JITTER: Final = 0.01
_OVER: Final = 2


@dataclass(slots=True)
class PatternCheck:
    """Counts what a right pattern does not do. A return to the start is a round or a restart."""

    seen: int = 0
    first: float = 0.0
    last: float = 0.0
    order: int = 0
    pace: float = 0.0
    back: int = 0
    jumps: int = 0
    over: int = 0
    missed: int = 0
    rounds: int = 0
    odd: int = 0
    """Rounds that were not as long as the one before."""
    at_end: bool = False
    """The newest line counted up to its total."""
    peak: float = 0.0
    """Where the count went round last time."""
    same_peaks: int = 0

    @property
    def wrong(self) -> bool:
        strikes = max(self.back + self.odd, self.jumps)
        return (
            (strikes >= _STRIKES and strikes * _SHARE > self.seen)
            or self.over >= _OVER
            or self.missed >= max(_SILENT, 3 * self.seen)
        )

    @property
    def lap(self) -> float | None:
        """What the count goes up to each time, where it never says so."""
        if self.same_peaks < 1:
            return None
        return self.peak + self.pace if self.first == 0 else self.peak

    def see(self, sighting: Sighting, order: int, *, with_total: bool) -> None:
        """Take in what the pattern read; `with_total`: it promised one."""
        current = sighting.current or 0.0
        self.over += with_total and sighting.total is None
        self.missed = 0
        self.at_end = sighting.total is not None and current >= sighting.total
        if self.seen == 0:
            self.first = current
        else:
            self._move(current, sighting.total)
        self.seen, self.last, self.order = self.seen + 1, current, order

    def miss(self) -> None:
        """A line like those of the pattern that it did not read."""
        self.missed += 1

    def _move(self, current: float, total: float | None) -> None:
        move = current - self.last
        if move > 0:
            wide = move > _JUMP * max(self.pace, 1e-9) and (not total or _SHARE * move > total)
            self.jumps += wide and self.seen >= _KNOWN
            self.pace = move if self.pace == 0 else min(self.pace, move)
        elif move < 0:
            self._fall(current, -move, total)

    def _fall(self, current: float, fall: float, total: float | None) -> None:
        if current <= self.first + _NEAR_START * (self.last - self.first):
            self.rounds += 1
            self.odd += abs(self.last - self.peak) > _NEAR_START * self.last
            self.same_peaks = self.same_peaks + 1 if self.last == self.peak else 0
            self.peak = self.last
            self.first = min(self.first, current)
        elif fall > max(2 * self.pace, _JITTER * (total or 0.0)):
            self.back += 1


_MIN_CONFIDENCE: Final = 0.4
"""Below it nothing is reported."""
_STUDIED: Final = 400
_ASK_AFTER: Final = 10
_MAX_REFUSED: Final = 8
_LOOK_AFTER_MISSES: Final = (2, 8, 20)
_LOOK_AT_ROUNDS: Final = 3
_LAP: Final = 0.7
_WORK: Final = vocabulary(
    "training fitting running processing simulating optimizing optimising learning finetuning"
)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A line that was read only after its format was learnt."""

    order: int
    at: float | None
    sighting: Sighting


@dataclass(slots=True)
class Learner:
    """Bounded in memory; its state can be written and read back like everything of a log."""

    pattern: LearnedPattern | None = None
    miner: Miner = field(default_factory=Miner)
    check: PatternCheck = field(default_factory=PatternCheck)
    template: int = 0
    """The one the pattern was learnt from; 0: it was remembered."""
    words: list[str] = field(default_factory=list)
    reading: str = ""
    """Changes when another number is counted, or counted towards another one."""
    rank: float = 0.0
    rounds: float | None = None
    """How often the count goes round, where the log stated that."""
    asked: bool = False
    refused: list[str] = field(default_factory=list)
    """What later lines proved wrong: expressions, each with the total that it counted to."""
    backlog: Samples = field(default_factory=Samples)

    @property
    def counting(self) -> tuple[str, float | None]:
        """Changes when the lines so far have to be counted anew."""
        return self.reading, None if self.pattern is None else self.pattern.total

    @property
    def confidence(self) -> float:
        """A count that goes round without saying how often is hardly the run."""
        if self.pattern is None:
            return 0.0
        inner = self.check.rounds > 1 and "(?P<epoch>" not in self.pattern.expression
        return min(CERTAIN, self.pattern.confidence) if inner else self.pattern.confidence

    @property
    def prepares(self) -> bool:
        """Its lines say what is done before the run: `featurising molecule 3/90`."""
        first = self.words[0].lower() if self.words else ""
        return first.endswith("ing") and first not in _WORK

    def feed(
        self, text: str, order: int, at: float | None, declared: DeclaredNumbers | None = None
    ) -> Sighting | None:
        """Take in a line; return what it says as soon as the format is known."""
        rounds = self.check.rounds
        sighting = None if self.pattern is None else self._read(text, order)
        if sighting is not None and self.check.seen > _STUDIED:
            return sighting
        name = self.miner.add(text, order, at)
        template = self.miner.templates.get(name)
        if template is not None and self._is_due(name, template, rounds, read=sighting is not None):
            template.looked()
            if self._learn(name, template, order, declared, read=sighting is not None):
                return self._read(text, order)
        return sighting

    def _is_due(self, name: int, template: Template, rounds: int, *, read: bool) -> bool:
        """Lines that the pattern misses, and the start of a round, are examined at once."""
        if name == self.template:
            missed = not read and self.check.missed in _LOOK_AFTER_MISSES
            if missed or rounds < self.check.rounds <= _LOOK_AT_ROUNDS:
                return True
        return template.count >= template.look_at

    def replay(self) -> list[Replayed]:
        """Sightings of the lines before the format was known; each is given out once."""
        if self.pattern is None or not self.backlog.texts:
            return []
        kept, self.backlog = self.backlog, Samples()
        lines = zip(kept.orders, kept.times, kept.texts, strict=True)
        read = (
            (order, at, self._in_rounds(read_with(self.pattern, text))) for order, at, text in lines
        )
        return [Replayed(order, at, sighting) for order, at, sighting in read if sighting]

    def adopt(self, pattern: LearnedPattern) -> None:
        """Go on with a remembered pattern; raises `BadInput` where it is none."""
        compiled(pattern.expression)
        self._set(pattern, 0, [], 0.0)

    def question(self) -> naming.Question | None:
        """What a model could settle; None when there is nothing, or it has been asked."""
        if self.asked:
            return None
        name = self.template or self._likeliest()
        template = self.miner.templates.get(name)
        table = None if template is None else table_of(template)
        meaning = None if table is None else meaning_of(table)
        if template is None or table is None or meaning is None or template.count < _ASK_AFTER:
            return None
        return naming.question(name, table, meaning)

    def settle(self, question: naming.Question, answer: Roles) -> LearnedPattern | None:
        """Take in the model's answer to a question; it is not asked again."""
        self.asked = True
        pattern = naming.settle(question, answer)
        template = self.miner.templates.get(question.template)
        if pattern is None or template is None or _counting(pattern) in self.refused:
            return None
        self._set(pattern, question.template, template.words, question.meaning.rank)
        self.reading = f"{question.template}:asked"
        self._keep_for_replay(template, before=None)
        return pattern

    def _read(self, text: str, order: int) -> Sighting | None:
        if self.pattern is None:
            return None
        try:
            sighting = read_with(self.pattern, text)
        except BadInput:
            self._drop()
            return None
        if sighting is None:
            if self.words and fits(self.words, masked(text)):
                self.check.miss()
        else:
            self.check.see(sighting, order, with_total=_has_total(self.pattern))
            if self._learn_lap(order):
                sighting = read_with(self.pattern, text)
            sighting = self._in_rounds(sighting)
        if self.check.wrong:
            self._drop()
            return None
        return sighting

    def _in_rounds(self, sighting: Sighting | None) -> Sighting | None:
        if sighting is None or not self.rounds or sighting.epochs is not None:
            return sighting
        within = sighting.epoch is not None and sighting.epoch <= self.rounds
        return replace(sighting, epochs=self.rounds) if within else sighting

    def _learn_lap(self, order: int) -> bool:
        """Whether it has become known what the count goes up to each time."""
        lap = self.check.lap
        if not lap or self.pattern is None or _has_total(self.pattern):
            return False
        # else the end may lie between two lines, or the numbers be those of several writers
        plain = self.check.pace == 1 and compiled(self.pattern.expression).has_epoch
        limit = _LAP if plain else CERTAIN
        self.pattern = replace(self.pattern, total=lap, confidence=min(limit, self.confidence))
        template = self.miner.templates.get(self.template)
        if template is not None:
            self._keep_for_replay(template, before=order)
        return True

    def _learn(
        self,
        name: int,
        template: Template,
        order: int,
        declared: DeclaredNumbers | None,
        *,
        read: bool,
    ) -> bool:
        """Judge a template anew; say whether the pattern is another one now."""
        table = table_of(template)
        meaning = None if table is None else meaning_of(table, declared)
        if table is None or meaning is None or meaning.confidence < _MIN_CONFIDENCE:
            return False
        if not self._is_better(name, template, meaning):
            return False
        pattern = pattern_of(table, meaning)
        if pattern is None or _counting(pattern) in self.refused:
            return False
        reading = _reading(name, meaning)
        if reading == self.reading:
            lap = self.pattern if self.check.lap and pattern.total is None else None
            self.pattern = lap or pattern
            self.rounds = meaning.rounds or self.rounds
            return not read
        self._set(pattern, name, template.words, meaning.rank)
        self.reading, self.rounds = reading, meaning.rounds
        self._keep_for_replay(template, before=order)
        return True

    def _is_better(self, name: int, template: Template, meaning: Meaning) -> bool:
        if self.pattern is None:
            return True
        if name == self.template:
            return True
        silent = self.check.order < template.samples.orders[0]
        outer = self.check.rounds > 0 and meaning.confidence >= self.confidence - 0.1
        return (
            (silent and (self.check.at_end or meaning.confidence > min(CERTAIN, self.confidence)))
            or (outer and meaning.has_total)
            or meaning.rank > self.rank + 1.0
        )

    def _set(self, pattern: LearnedPattern, name: int, words: list[str], rank: float) -> None:
        self.check, self.reading = PatternCheck(), "remembered"
        self.pattern, self.template, self.words, self.rank = pattern, name, list(words), rank

    def _keep_for_replay(self, template: Template, before: int | None) -> None:
        kept = template.samples
        self.backlog = Samples()
        for index, order in enumerate(kept.orders):
            if before is None or order < before:
                self.backlog.add(kept.texts[index], order, kept.nths[index], kept.times[index])

    def _drop(self) -> None:
        """The pattern was wrong: forget it, and learn anew from here."""
        if self.pattern is not None:
            self.refused = [*self.refused, _counting(self.pattern)][-_MAX_REFUSED:]
        self.pattern, self.template, self.words, self.rank = None, 0, [], 0.0
        self.miner, self.check, self.backlog, self.reading = Miner(), PatternCheck(), Samples(), ""

    def _likeliest(self) -> int:
        """The template that came most often."""
        templates = self.miner.templates
        return max(templates, key=lambda name: templates[name].count, default=0)


def _counting(pattern: LearnedPattern) -> str:
    return f"{pattern.expression}\t{pattern.total or ''}"


def _has_total(pattern: LearnedPattern) -> bool:
    return pattern.total is not None or compiled(pattern.expression).has_total


def _reading(name: int, meaning: Meaning) -> str:
    counted = sorted(role for role in meaning.roles.items() if not role[0].startswith("m_"))
    return f"{name}:{counted}:{meaning.unit}:{meaning.total}"

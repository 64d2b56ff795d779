"""One count through the lines of a log: its value, laps, speed, and the clock it is timed by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Literal

from schedmate.logs import DAY_S, stamped_at
from schedmate.model import Phase, Unit
from schedmate.tracker.forecasting.timeline import Timeline
from schedmate.tracker.formats.base import Ordinal, Sighting

Clock = Literal["printed", "stamped", "polled"]
"""Whose time a count is measured by: its own, that of its log's lines, or ours at a look."""

_LAP = 0.9
"""A count that falls back after this share of its total has gone round; before, it restarted."""
_THINGS = frozenset(
    {
        "fold", "trial", "phase", "stage", "seed", "repeat", "chain", "replicate", "task", "test",
        "file", "game", "day", "generation", "round", "episode", "frame", "image", "molecule",
        "page", "tile", "fit", "tree", "document", "video", "structure", "archive", "query",
    }
)  # fmt: skip
_ODD = 2
_SPANS = 6
_NARROW = 1.1
"""A total between two numbers that are closer than this is worth showing."""
_SHARE_SLACK = 0.1
_JITTER = 0.01
"""Ranks that share a log are this far apart; a smaller step back is no restart."""


@dataclass(frozen=True, slots=True)
class Times:
    """The known times: when a line was written, and when the run began."""

    polled: float | None = None
    stamp: Stamp | None = None
    started: float | None = None
    span_s: float = 0.0
    """Between the first and the newest stamp so far, be it of other lines."""

    def began(self, clock: Clock) -> float | None:
        if clock == "printed":
            return 0.0
        return self.stamp.first if clock == "stamped" and self.stamp else self.started


@dataclass(slots=True, kw_only=True)
class Series:
    """A count with another total is another count, but for epochs that differ by a last batch."""

    format: str
    name: str
    unit: Unit
    total: float | None
    born: int
    parent: str | None = None
    """The unfinished count inside which this one appeared."""
    declared_per_epoch: bool = False
    rose_over_epochs: int = 0
    fell_over_epochs: int = 0
    confidence: float = 1.0
    seen: int = 0
    moved: int = 0
    """The lines that last named it, and that last showed it elsewhere than before."""
    moves: int = 0
    sightings: int = 0
    measured: int = 0  # how many of its lines showed a metric as well
    in_rounds: bool = False
    """The count inside which this one appeared is a heading: each heading begins a round."""
    shares: tuple[float, float] | None = None
    """Between which totals the printed shares leave a choice."""
    spans: list[float] = field(default_factory=list)
    """The newest durations without a name at the end of its lines."""
    current: float = 0.0
    increment: float = 0.0
    laps: int = 0
    falls: int = 0
    peak: float = 0.0  # how far it came before it last began anew
    auxiliary: Phase | None = None
    """It counts something else than the training."""
    beside: str | None = None
    """The measured count that stands still each time this one, without metrics, runs through."""
    preliminary: bool = False
    """Its lines name a phase that others follow: a warm-up, a burn-in."""
    reached: bool = False  # the total that the log announced
    first: float | None = None
    """Where the count was first seen: a resumed run does not begin at zero."""
    begun: float | None = None  # the first above zero: bars are drawn before checkpoints are loaded
    epoch: float | None = None
    epochs: float | None = None
    rate_per_s: float | None = None
    eta_s: float | None = None
    elapsed_s: float | None = None
    seen_at: float | None = None
    timeline: Timeline = field(default_factory=Timeline)
    clock: Clock | None = None
    stamps: Kind | None = None
    """Which stamps its clock goes by, where it goes by stamps."""
    earlier_laps_s: float = 0.0
    timed_lap: float = 0.0
    clock_resets: int = 0
    """How often the printed time went back within a lap."""
    epochs_from_zero: bool = False
    from_zero: bool = False
    stamped_before_s: float = 0.0
    """How long the log had been stamped when this count began."""
    ordinal: Ordinal | None = None
    counted: float = 0.0

    @property
    def thing(self) -> str:
        """What it counts, where its name is that of a thing rather than of a step."""
        words = self.name.lower().removeprefix("outer ").split()
        thing = words[-1].removesuffix("s") if words else ""
        return thing if thing in _THINGS and self.unit in ("step", "sample") else ""

    @property
    def aside(self) -> bool:
        """It is of something else than the run: an evaluation, files that are loaded."""
        return self.auxiliary is not None or self.beside is not None

    @property
    def per_epoch(self) -> bool:
        """A count that simply goes on when an epoch ends is one of the whole run."""
        goes_on = self.rose_over_epochs > 0 and self.fell_over_epochs == 0
        return self.declared_per_epoch and not goes_on

    @property
    def per_lap(self) -> bool:
        """Current and total are of one epoch, not of the run."""
        return self.per_epoch or self.laps > 0

    @property
    def goes_round(self) -> bool:
        """It began anew at least once, and how often it will is not stated beside it."""
        return self.laps > 0 and self.epochs is None

    @property
    def laps_done(self) -> float:
        return self.epochs_before if self.per_epoch and self.epoch is not None else self.laps

    @property
    def epochs_before(self) -> float:
        """How many epochs have ended, by the number that stands beside the count."""
        return max(0.0, (self.epoch or 0.0) - (0 if self.epochs_from_zero else 1))

    @property
    def done(self) -> float:
        """What is behind us in this lap."""
        if self.ordinal is None:
            return self.current
        ended = 0 if self.ordinal == "begun" else 1
        from_zero = self.epochs_from_zero or (self.epoch is None and self.from_zero)
        return max(0.0, self.current + ended - (0 if from_zero else 1))

    @property
    def run_time_s(self) -> float | None:
        """The printed time of all laps."""
        return None if self.elapsed_s is None else self.earlier_laps_s + self.elapsed_s

    @property
    def gained(self) -> float:
        """How far it came before our eyes."""
        return self.counted - (self.first or 0.0)

    @property
    def complete(self) -> bool:
        """All that it counts is done, for all that the log says."""
        lap_complete = self.total is not None and self.done >= self.total
        if not self.per_epoch:
            return lap_complete
        return lap_complete and self.epochs is not None and self.laps_done + 1 >= self.epochs

    @property
    def at_its_last(self) -> bool:
        """A count from zero that names every step ends one below its total."""
        if self.total is None or self.per_lap or self.ordinal is not None:
            return False
        return self.first == 0 and self.increment == 1 and self.done == self.total - 1

    def see(self, sighting: Sighting, order: int, times: Times) -> None:
        if self._is_jitter(sighting):
            return
        before, at_last = self.done, self.total is not None and self.current >= self.total
        self.sightings += 1
        self.measured += bool(sighting.metrics)
        if sighting.share is not None and sighting.current:
            self._note_share(sighting.current, sighting.share)
        self._compare_over_epochs(sighting)
        self._take(sighting)
        if self.done < before:
            self._go_back(before, at_last=at_last)
        elif self.first is not None and self.done > before:
            self.increment = self.done - before
        self._note_move(order)
        self._note_time(sighting, times)
        self.seen, self.seen_at = order, times.polled

    def note_span(self, seconds: float) -> None:
        """A duration that does not rise is that of one unit; one that rises is since the start."""
        self.spans = [*self.spans, seconds][-_SPANS:]
        rising = all(one < after for one, after in pairwise(self.spans))
        if len(self.spans) > 1 and not rising:
            self.rate_per_s = (self.increment or 1.0) / median(self.spans)
        elif len(self.spans) == _SPANS:
            self.rate_per_s = None

    @property
    def total_by_share(self) -> float | None:
        """The roundest number that fits all printed shares of the total."""
        if self.shares is None or self.shares[1] > _NARROW * self.shares[0]:
            return None
        return roundest(*self.shares)

    def _note_share(self, done: float, percent: float) -> None:
        """A share is printed rounded or cut off, by up to one of its last digit."""
        slack = 1.0 if percent.is_integer() else _SHARE_SLACK
        if percent <= slack:
            return
        least, most = 100 * done / (percent + slack), 100 * done / (percent - slack)
        known = self.shares or (least, most)
        low, high = max(least, known[0]), min(most, known[1])
        self.shares = (low, high) if low <= high else (least, most)

    def begin_round(self) -> None:
        """Where only the end of each round is printed, its count would never fall back."""
        if self.total is not None and self.epoch is None and self.done >= self.total:
            self.laps += 1
            self.current = 0.0

    def _is_jitter(self, sighting: Sighting) -> bool:
        if sighting.current is None or sighting.epoch != self.epoch:
            return False
        slack = max(1.0, _JITTER * (self.total or 0.0))
        return 0 < sighting.current < self.current <= sighting.current + slack

    def _compare_over_epochs(self, sighting: Sighting) -> None:
        if self.epoch is None or sighting.epoch is None or sighting.current is None:
            return
        if sighting.epoch > self.epoch and self.current > 0:
            self.rose_over_epochs += sighting.current > self.current
            self.fell_over_epochs += sighting.current < self.current

    def _take(self, sighting: Sighting) -> None:
        self.current = sighting.current or 0.0
        if sighting.total is not None:
            self.total = max(sighting.total, self.total or 0.0)
        self.epoch = sighting.epoch
        self.ordinal = sighting.ordinal
        self.confidence = sighting.confidence
        self.from_zero = self.from_zero or self.current == 0
        self.epochs_from_zero = self.epochs_from_zero or sighting.epoch == 0
        self.epochs = sighting.epochs if self.per_epoch else None
        self.rate_per_s = sighting.rate_per_s or self.rate_per_s
        self.eta_s = sighting.eta_s
        self.preliminary = sighting.preliminary
        if sighting.phase in ("starting", "evaluating", "checkpointing"):
            self.auxiliary = sighting.phase

    def _go_back(self, before: float, *, at_last: bool) -> None:
        """An inner count always goes round; an outer one may also have been started again."""
        self.falls += 1
        self.peak = before + (self.increment if self.from_zero else 0.0)
        if self.in_rounds and self.total is None and before > 1:
            self.total = self.peak
        went_round = at_last or (self.total is not None and before >= _LAP * self.total)
        self.laps = self.laps + 1 if went_round or self.parent else 0

    def _note_move(self, order: int) -> None:
        counted = self.laps_done * (self.total or 0.0) + self.done
        if counted < self.counted:
            self.timeline.restart()
            self.first = self.begun = None
        self.first = counted if self.first is None else self.first
        self.begun = self.begun or counted or None
        if counted != self.counted:
            self.moves += 1
            self.moved = order
        self.counted = counted

    def _note_time(self, sighting: Sighting, times: Times) -> None:
        """One clock for all points: two clocks do not compare."""
        clock = self._clock_for(sighting, times)
        if clock == "printed":
            self._note_printed(sighting.elapsed_s or 0.0, times)
        elif clock == "stamped" and times.stamp is not None:
            self._note_stamped(times.stamp)
        elif clock == "polled" and times.polled is not None:
            self.timeline.add(times.polled, self.counted)

    def _clock_for(self, sighting: Sighting, times: Times) -> Clock | None:
        """Its own clock is the best, but where it starts anew each epoch the log's is better."""
        usable = sighting.phase != "finished" and self.clock_resets < _ODD
        printed = sighting.elapsed_s if usable else None
        there: list[Clock] = ["printed"] if printed is not None else []
        if times.stamp is not None:
            there.insert(0 if self.per_lap else len(there), "stamped")
        if times.polled is not None:
            there.append("polled")
        if self.clock in there:
            return self.clock
        if there and self.clock in (None, "polled"):
            self.clock = there[0]
            self.timeline = Timeline(began=times.began(self.clock))
            return self.clock
        return None

    def _note_stamped(self, stamp: Stamp) -> None:
        self.stamps = self.stamps or stamp.kind
        if stamp.kind == self.stamps:
            self.timeline.add(stamp.at, self.counted, whole_seconds=stamp.at.is_integer())

    def _note_printed(self, printed: float, times: Times) -> None:
        if self.elapsed_s is not None and printed < self.elapsed_s:
            if self.laps_done == self.timed_lap:
                self.clock_resets += 1
            if self.clock_resets >= _ODD:
                self._give_up_printed_times()
                return
            self.earlier_laps_s += self.elapsed_s + self._between_laps(printed, times)
        self.elapsed_s, self.timed_lap = printed, self.laps_done
        at = self.earlier_laps_s + printed
        self.timeline.add(at, self.counted, whole_seconds=printed.is_integer())

    def _between_laps(self, printed: float, times: Times) -> float:
        if times.polled is None or self.seen_at is None:
            return 0.0
        return max(0.0, times.polled - self.seen_at - printed)

    def _give_up_printed_times(self) -> None:
        """They went back again and again while the count rose: they are not the run's."""
        self.elapsed_s, self.earlier_laps_s = None, 0.0
        self.clock, self.timeline = None, Timeline()


Kind = Literal["own", "dated", "timed"]
"""Read by the line's format only (`time_ms`), with a date, or a time of day without one.

A log may hold all three, in three time zones.
"""


@dataclass(frozen=True, slots=True)
class Stamp:
    at: float
    kind: Kind
    first: float
    """The first of this kind in the log."""


@dataclass(slots=True)
class Stamps:
    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    midnights: int = 0

    def read(self, text: str, own: float | None) -> Stamp | None:
        at = stamped_at(text) if own is None else own
        if at is None:
            return None
        kind: Kind = "own" if own is not None else "dated" if at >= DAY_S else "timed"
        if kind == "timed":
            at = self._with_midnights(at)
        self.last[kind] = at
        return Stamp(at, kind, self.first.setdefault(kind, at))

    @property
    def span_s(self) -> float:
        """The longest time between two stamps of one kind."""
        spans = (self.last[kind] - first for kind, first in self.first.items())
        return max(spans, default=0.0)

    def again(self, at: float | None) -> Stamp | None:
        """A stamp that was read before; None where the lines of this log are not stamped."""
        kinds: tuple[Kind, ...] = ("dated", "timed")
        kind = next((kind for kind in kinds if kind in self.first), None)
        return None if at is None or kind is None else Stamp(at, kind, self.first[kind])

    def _with_midnights(self, at: float) -> float:
        """Days are counted by the midnights between the lines."""
        at += self.midnights * DAY_S
        last = self.last.get("timed")
        if last is not None and at < last - DAY_S / 2:
            self.midnights += 1
            at += DAY_S
        return at


def roundest(least: float, most: float) -> float:
    """The number with the most zeros at its end between two others."""
    for scale in (10.0**power for power in range(12, -1, -1)):
        if math.floor(most / scale) * scale >= least:
            return math.floor(most / scale) * scale
    return (least + most) / 2

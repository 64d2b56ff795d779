"""One count through the lines of a log: where it stands, how often it went round, how fast."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.model import Phase, Unit
from schedmate.tracker.eta import Pace
from schedmate.tracker.formats import Sighting

_LAP = 0.9
"""A count that falls back after this share of its total has gone round; before, it restarted."""
_JITTER = 0.01
"""Ranks that share a log are this far apart; a smaller step back is no restart."""


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """A bar with another total is another bar."""

    format: str
    name: str
    unit: Unit
    total: float | None


class Series:
    def __init__(
        self, key: SeriesKey, born: int, *, parent: Series | None, per_epoch: bool
    ) -> None:
        self.key = key
        self.born = born
        self.parent = parent
        """The unfinished count inside which this one appeared."""
        self.seen = self.moved = born
        """The lines that last named it, and that last showed it elsewhere than before."""
        self.moves = 0
        self.current = 0.0
        self.laps = 0
        self.falls = 0
        self.aside: Phase | None = None
        """It counts something else than the training."""
        self.first: float | None = None
        """Where the count was first seen: a resumed run does not begin at zero."""
        self.epochs: float | None = None
        self.rate_per_s: float | None = None
        self.elapsed_s: float | None = None
        self.seen_at: float | None = None
        self.pace = Pace()
        self._per_epoch = per_epoch
        self._epoch: float | None = None
        self._from_zero = False
        self._ordinal: str | None = None
        self._counted = 0.0
        self._timeline = 0.0

    @property
    def per_lap(self) -> bool:
        """Current and total are of one epoch, not of the run."""
        return self._per_epoch or self.laps > 0

    @property
    def laps_done(self) -> float:
        if self._per_epoch and self._epoch is not None:
            return max(0.0, self._epoch - (0 if self._from_zero else 1))
        return self.laps

    @property
    def done(self) -> float:
        """What is behind us in this lap."""
        if self._ordinal is None:
            return self.current
        ended = 0 if self._ordinal == "begun" else 1
        return max(0.0, self.current + ended - (0 if self._from_zero else 1))

    @property
    def run_time_s(self) -> float | None:
        """The printed time of all laps."""
        return None if self.elapsed_s is None else self._timeline + self.elapsed_s

    @property
    def gained(self) -> float:
        """How far it came before our eyes."""
        return self._counted - (self.first or 0.0)

    @property
    def complete(self) -> bool:
        """All that it counts is done, for all that the log says."""
        lap_complete = self.key.total is not None and self.done >= self.key.total
        if not self._per_epoch:
            return lap_complete
        return lap_complete and self.epochs is not None and self.laps_done + 1 >= self.epochs

    def see(self, sighting: Sighting, order: int, now: float | None) -> None:
        """Take in a sighting of this count; `now` is the clock of the look, if there is one."""
        if self._is_jitter(sighting):
            return
        before = self.done
        self._check_per_epoch(sighting)
        self._take(sighting)
        if self.done < before:
            self._go_back(before)
        self._note_move(order)
        self._note_time(sighting, now)
        self.seen, self.seen_at = order, now

    def _is_jitter(self, sighting: Sighting) -> bool:
        if sighting.current is None or sighting.epoch != self._epoch:
            return False
        slack = max(1.0, _JITTER * (self.key.total or 0.0))
        return 0 < sighting.current < self.current <= sighting.current + slack

    def _check_per_epoch(self, sighting: Sighting) -> None:
        """A count that simply goes on when an epoch ends is one of the whole run."""
        if self._epoch is None or sighting.epoch is None or sighting.current is None:
            return
        if sighting.epoch > self._epoch and sighting.current > self.current > 0:
            self._per_epoch = False

    def _take(self, sighting: Sighting) -> None:
        self.current = sighting.current or 0.0
        self._epoch = sighting.epoch
        self._ordinal = sighting.ordinal
        self._from_zero = self._from_zero or sighting.epoch == 0
        self.epochs = sighting.epochs if self._per_epoch else None
        self.rate_per_s = sighting.rate_per_s or self.rate_per_s
        if sighting.phase in ("starting", "evaluating", "checkpointing"):
            self.aside = sighting.phase

    def _go_back(self, before: float) -> None:
        """An inner count always goes round; an outer one may also have been started again."""
        self.falls += 1
        went_round = self.key.total is not None and before >= _LAP * self.key.total
        self.laps = self.laps + 1 if went_round or self.parent else 0

    def _note_move(self, order: int) -> None:
        counted = self.laps_done * (self.key.total or 0.0) + self.done
        if counted < self._counted:
            self.pace.clear()
            self.first = None
        self.first = counted if self.first is None else self.first
        if counted != self._counted:
            self.moves += 1
            self.moved = order
        self._counted = counted

    def _note_time(self, sighting: Sighting, now: float | None) -> None:
        """Put a point on the printed timeline where there is one, else on the clock's."""
        printed = None if sighting.phase == "finished" else sighting.elapsed_s
        if printed is None:
            if now is not None and self.elapsed_s is None:
                self.pace.add(now, self._counted, whole_seconds=False)
            return
        if self.elapsed_s is not None and printed < self.elapsed_s:
            pause = now - self.seen_at if now is not None and self.seen_at is not None else 0.0
            self._timeline += self.elapsed_s + max(0.0, pause - printed)
        self.elapsed_s = printed
        self.pace.add(self._timeline + printed, self._counted, whole_seconds=printed.is_integer())

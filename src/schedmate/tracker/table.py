"""All counts of one log, and which of them is the run."""

from __future__ import annotations

from schedmate.tracker.formats import Sighting
from schedmate.tracker.series import Series, SeriesKey

_MOST_SERIES = 64


class SeriesTable:
    def __init__(self) -> None:
        self._series: dict[SeriesKey, Series] = {}

    def see(self, format_name: str, sighting: Sighting, order: int, now: float | None) -> None:
        key = SeriesKey(format_name, sighting.series, sighting.unit or "step", sighting.total)
        series = self._series.get(key)
        if series is None:
            parent = next(
                (one for one in self._roots() if one.key.total and not one.complete), None
            )
            series = Series(key, order, parent=parent, per_epoch=sighting.per_epoch)
            self._add(series)
        series.see(sighting, order, now)

    def main(self) -> Series | None:
        """The outermost count that is not finished, or that lasted longest if all are."""
        roots = self._roots()
        counted = [one for one in roots if one.key.total is not None]
        going = next((one for one in counted if not one.complete), None)
        if going is not None:
            return self._finer(going)
        finished = max(counted, key=lambda one: one.seen - one.born, default=None)
        bare = [one for one in roots if one.key.total is None]
        latest = max(bare, key=lambda one: one.moves, default=None)
        if finished is None or (latest and latest.born > finished.seen and latest.moves > 1):
            return latest
        return self._finer(finished)

    def inner(self, main: Series) -> Series | None:
        """The count that goes round once in each unit of the main one."""
        rounds = (
            one
            for one in self._inside(main)
            if (one.laps > 0 or main.key.unit == "epoch") and one.laps >= main.moves - 1
        )
        return max(rounds, key=lambda one: one.seen, default=None)

    def aside(self, main: Series | None) -> Series | None:
        """The unfinished count of something else (an evaluation) that is newer than the main."""
        since = -1 if main is None else main.seen
        newer = [one for one in self._series.values() if one.aside and one.seen > since]
        return max(newer, key=lambda one: one.seen, default=None)

    def _roots(self) -> list[Series]:
        return [
            one
            for one in self._series.values()
            if not one.aside and (one.parent is None or one.parent.key not in self._series)
        ]

    def _inside(self, main: Series) -> list[Series]:
        return [
            one
            for one in self._series.values()
            if one.parent is main and one.key.total is not None and not one.aside
        ]

    def _finer(self, main: Series) -> Series:
        """A count that went on when the outer one moved, and never fell, is of the run as well."""
        for one in self._inside(main):
            went_on = one.falls == 0 and not one.per_lap and one.born < main.moved < one.moved
            if went_on and main.moves > 0:
                return one
        return main

    def _add(self, series: Series) -> None:
        """Keep the table small even where a log names a thousand bars."""
        if len(self._series) >= _MOST_SERIES:
            least = min(self._series.values(), key=lambda one: (one.moves, one.seen))
            del self._series[least.key]
        self._series[series.key] = series

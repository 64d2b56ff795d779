"""All counts of one log, and which of them is the run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from schedmate.model import Phase
from schedmate.tracker.counting.series import Series, Times
from schedmate.tracker.counting.succession import (
    goes_on,
    is_alike,
    is_instead_of,
    is_next_phase,
    is_over,
)
from schedmate.tracker.forecasting.timeline import Timeline
from schedmate.tracker.formats.base import Sighting
from schedmate.tracker.formats.parts import WHOLE_RUNS

LEARNED, PARTS, NAMED = "learned", "parts", "named"
_MAX_SERIES = 64
_MOVING = 3
_WELL_KNOWN = 5
_LATE = 0.9
_DOUBT = 0.5
_MAX_PAST = 12


@dataclass(slots=True)
class SeriesTable:
    series: dict[str, Series] = field(default_factory=dict)
    past: list[Series] = field(default_factory=list)
    """Learnt counts that were at their ends when the lines began to count something else."""

    def see(self, format_name: str, sighting: Sighting, order: int, times: Times) -> None:
        unit = sighting.unit or "step"
        key = _key(format_name, sighting)
        series = self.series.get(key)
        if series is None:
            parent = self._going()
            series = Series(
                format=format_name,
                name=sighting.series,
                unit=unit,
                total=sighting.total,
                born=order,
                moved=order,
                parent=parent,
                in_rounds=self._is_heading(parent) or self.epoch_begun() is not None,
                declared_per_epoch=sighting.per_epoch,
                stamped_before_s=times.span_s,
                beside=self._measured_before(sighting),
            )
            self._add(key, series)
        elif series.beside is not None and self._is_around(series, sighting):
            series.beside = None
        before = series.moves
        series.see(sighting, order, times)
        if sighting.ordinal == "begun" and series.moves > before:
            self._begin_rounds(key)

    def is_beside(self, format_name: str, sighting: Sighting) -> bool:
        """Whether a count without metrics is new, or known to be of something else than the run."""
        series = self.series.get(_key(format_name, sighting))
        if series is None:
            return self._measured_before(sighting) is not None
        return series.auxiliary is not None and series.measured == 0

    def _measured_before(self, sighting: Sighting) -> str | None:
        """The newest count that shows metrics and has moved, where this one begins without any."""
        counts = sighting.total is not None and sighting.ordinal is None
        if sighting.metrics or not counts or sighting.unit == "epoch":
            return None
        measured = {
            key: one
            for key, one in self.series.items()
            if one.measured > 1 and one.moves and not (one.aside or one.complete or one.parent)
        }
        return max(measured, key=lambda key: measured[key].seen, default=None)

    def _is_around(self, series: Series, sighting: Sighting) -> bool:
        """It went on after lines of the measured count: that is counted inside it."""
        inside = self.series.get(series.beside or "")
        if inside is None:
            return True
        return inside.seen > series.seen and (sighting.current or 0.0) > series.current > 0

    def epoch_begun(self) -> tuple[float, float | None] | None:
        """The number of the epoch that the newest heading names, and how many there are."""
        begun = [
            one for one in self.series.values() if one.unit == "epoch" and one.ordinal == "begun"
        ]
        newest = max(begun, key=lambda one: one.seen, default=None)
        return None if newest is None else (newest.current, newest.total)

    def epochs_counted(self, main: Series) -> float | None:
        """How many epochs there are by another count, where `main` counts within each of them."""
        others = (one for one in self.series.values() if one is not main and not one.aside)
        epochs = [one for one in others if one.unit == "epoch" and one.total is not None]
        newest = max(epochs, key=lambda one: one.seen, default=None)
        return None if newest is None else newest.total

    def note_span(self, format_name: str, sighting: Sighting, span_s: float | None) -> None:
        """A duration without a name at the end of the line of a finished unit."""
        series = self.series.get(_key(format_name, sighting))
        if series is not None and span_s:
            series.note_span(span_s)

    def _begin_rounds(self, outer: str) -> None:
        """A headline says that another epoch begins: what is counted inside begins anew."""
        for one in self.series.values():
            if one.parent == outer:
                one.begin_round()

    def has_total(self) -> bool:
        """Whether an exact format counts the run to a known end."""
        return any(
            one.total is not None
            and one.moves >= _WELL_KNOWN
            and not (one.goes_round or self._is_inside_learnt(one) or self._is_one_of_many(one))
            for one in self.series.values()
            if one.format not in (LEARNED, PARTS) and not one.aside
        )

    def _is_one_of_many(self, one: Series) -> bool:
        others = (other for other in self.series.values() if one.complete or other.complete)
        return any(is_alike(one, other) for other in others if not other.aside)

    def _is_inside_learnt(self, one: Series) -> bool:
        """Whether it began inside a learnt count that is believed and goes on, as a file's bar."""
        outer = None if one.parent is None else self.series.get(one.parent)
        if outer is None or outer.format != LEARNED or one.measured:
            return False
        goes_on = outer.total is not None and not outer.complete
        return goes_on and outer.confidence > _DOUBT and outer.moves >= _MOVING

    def repeats(self, one: Series) -> int:
        """How many counts of the same kind ran to their ends before this one began."""
        before = (other for other in self.series.values() if other.seen < one.born)
        return sum(other.complete and is_alike(one, other) for other in before)

    def holds(self, format_name: str) -> bool:
        return any(one.format == format_name for one in self.series.values())

    def forget(self, format_name: str) -> None:
        over = [one for one in self.series.values() if one.format == format_name and is_over(one)]
        kept = [replace(one, timeline=Timeline()) for one in over if one not in self.past]
        self.past = [*self.past, *kept][-_MAX_PAST:]
        self.series = {key: one for key, one in self.series.items() if one.format != format_name}

    def forget_count(self, format_name: str, sighting: Sighting) -> None:
        """One count that turned out to be part of another."""
        self.series.pop(_key(format_name, sighting), None)

    def pause(self, kind: Phase) -> None:
        """The run does something else between the last line of its count and the next."""
        for series in self._roots():
            series.timeline.pause(kind)

    def main(self) -> Series | None:
        """The outermost count that is not finished, or that lasted longest if all are."""
        roots = self._roots()
        known = [one for one in roots if one.format != LEARNED]
        if any(one.moves >= _MOVING for one in known if one.format != PARTS):
            roots = known + [
                one for one in roots if one.format == LEARNED and one.confidence > _DOUBT
            ]
        counted = [one for one in roots if one.total is not None]
        counted = [one for one in counted if not self._holder_of(one)]
        going = next((one for one in counted if not one.complete), None)
        before = None if going is None else self.completed_before(going)
        if before is not None and before.measured and not (going and going.measured):
            return self._finer(before)
        if going is not None:
            return self._finer(going)
        finished = max(counted, key=lambda one: one.seen - one.born, default=None)
        later = [one for one in counted if finished is not None and goes_on(finished, one)]
        finished = max(later, key=lambda one: one.born, default=finished)
        bare = [one for one in roots if one.total is None]
        present = [one for one in bare if not any(is_instead_of(other, one) for other in bare)]
        latest = max(present, key=lambda one: one.moves, default=None)
        heading = self._heading_around(latest)
        if heading is not None and finished is None:
            return heading
        if finished is None or (latest and latest.born > finished.seen and latest.moves > 1):
            return latest
        return self._finer(finished)

    def completed_before(self, one: Series) -> Series | None:
        """The count of a training that was over when this one began."""
        past = [
            other
            for other in self.series.values()
            if other is not one
            and other.complete
            and not other.aside
            and (other.measured or (other.format, other.name) == (one.format, one.name))
        ]
        over = [other for other in past if other.seen < one.born and other.moves >= _WELL_KNOWN]
        return max(over, key=lambda other: other.moves, default=None)

    def lengths_before(self, one: Series) -> list[float]:
        """The totals of counts of the same kind that were at their ends before this one began."""
        before = [other for other in (*self.past, *self.series.values()) if goes_on(other, one)]
        rounds = [(other.total, other.laps + other.complete) for other in before]
        return [total for total, times in rounds if total is not None for _ in range(times)]

    def note_announced(self, format_name: str, sighting: Sighting, total: float) -> None:
        """The log announced the total of a count that prints none."""
        series = self.series.get(_key(format_name, sighting))
        if series is not None and series.total is None:
            series.reached = series.reached or series.done + series.increment >= total

    def phases_before(self, one: Series) -> list[Series]:
        """The counts of this kind that were heard of last before this one began."""
        return [other for other in self.series.values() if is_next_phase(one, other)]

    def newest_of_run(self) -> Series | None:
        """The newest count with a total, of epochs where those are counted."""
        counts = [
            one
            for one in self.series.values()
            if one.format != PARTS and one.total is not None and not (one.aside or one.per_epoch)
        ]
        epochs = [one for one in counts if one.unit == "epoch"]
        return max(epochs or counts, key=lambda one: one.seen, default=None)

    def completed(self, one: Series) -> list[Series]:
        """The counts that were at their ends before this one began."""
        others = (other for other in self.series.values() if other is not one)
        return [other for other in others if other.complete and other.seen <= one.born]

    def newest(self) -> Series | None:
        """The count that moved last, of those that are of the run."""
        counts = (one for one in self.series.values() if one.format != PARTS and not one.aside)
        return max(counts, key=lambda one: one.moved, default=None)

    def part(self) -> Series | None:
        """The count of folds, trials or the like, each of which holds a whole count."""
        parts = (one for one in self.series.values() if one.format == PARTS)
        return max(parts, key=lambda one: one.seen, default=None)

    def whole_runs(self) -> Series | None:
        """The same, also where the lines of the count itself name it: `trial 3/12 epoch 5/5`."""
        named = (one for one in self.series.values() if _holds_runs(one))
        found = (one for one in named if one.total is None or self._is_first_part(one))
        return max(found, key=lambda one: one.seen, default=None)

    def _heading_around(self, one: Series | None) -> Series | None:
        """The headings of epochs without a total, where a count began anew below each of them."""
        if one is None or not one.in_rounds or not one.falls:
            return None
        epochs = (other for other in self.series.values() if other.unit == "epoch")
        return next((other for other in epochs if other.ordinal == "begun" and other.moves), None)

    def inner(self, main: Series) -> Series | None:
        """The count that goes round once in each unit of the main one."""
        rounds = (
            one
            for one in self._inside(main)
            if (one.laps_done > 0 or main.unit == "epoch" or main.ordinal == "begun")
            and (one.laps_done >= main.moves - 1)
        )
        return max(rounds, key=lambda one: one.seen, default=None)

    def auxiliary(self, main: Series | None) -> Series | None:
        """The unfinished count of something else (an evaluation) that is newer than the main."""
        since = -1 if main is None else main.seen
        newer = [
            one
            for one in self.series.values()
            if one.seen > since and (one.aside or self._comes_after(one, main))
        ]
        return max(newer, key=lambda one: one.seen, default=None)

    def _comes_after(self, one: Series, main: Series | None) -> bool:
        return main is not None and one.total is not None and self.completed_before(one) is main

    def _going(self) -> str | None:
        """The unfinished outermost count: a count that begins now begins inside it."""
        roots = ((key, one) for key, one in self.series.items() if self._is_root(one))
        open_ended = (
            key for key, one in roots if one.total and not (one.complete or one.goes_round)
        )
        return next(open_ended, None)

    def _is_root(self, one: Series) -> bool:
        if one.aside or self._is_past(one):
            return False
        outer = None if one.parent is None else self.series.get(one.parent)
        return outer is None or self._is_past(outer)

    def _is_past(self, one: Series) -> bool:
        """Whether others go on and this does not: named only once (`trial 4 of 5`), or left

        short of its end (the last hundred files are not printed) before the training began.
        """
        if one.unit == "epoch" or one.total is None:
            return False
        others = [other for other in self.series.values() if other is not one and not other.aside]
        if one.moves <= 1 and not self._is_first_part(one):
            redrawn = one.moves == 0 and one.sightings == 1
            return any(
                other.moves >= _MOVING
                or (redrawn and other.total == one.total and other.seen > one.seen)
                for other in others
            )
        if one.at_its_last and any(is_next_phase(other, one) for other in others):
            return not any(one.born < other.born < one.seen for other in others)
        late = one.done >= _LATE * one.total and not one.complete
        most = max(_MOVING, one.moves)
        return late and any(other.born > one.moved and other.moves > most for other in others)

    def _is_first_part(self, one: Series) -> bool:
        """`Fold 1/5` is followed by others; `trial 4 of 5`, named once, is the launcher's."""
        return one.ordinal == "begun" and (one.sightings > 1 or one.current <= 1)

    def _is_heading(self, key: str | None) -> bool:
        outer = None if key is None else self.series.get(key)
        return outer is not None and outer.ordinal == "begun"

    def _roots(self) -> list[Series]:
        return [one for one in self.series.values() if self._is_root(one)]

    def _holder_of(self, inner: Series) -> Series | None:
        """The count that moved on as often as this one went round, and never went back."""
        if not inner.goes_round:
            return None
        holders = (
            one
            for one in self.series.values()
            if one.total is not None and 1 <= one.moves <= inner.laps + 1 and not one.falls
        )
        sure = (one for one in holders if one.format != LEARNED or one.confidence > _DOUBT)
        return next((one for one in sure if self._is_root(one)), None)

    def _inside(self, main: Series) -> list[Series]:
        key = next(key for key, one in self.series.items() if one is main)
        return [
            one
            for one in self.series.values()
            if (
                one.parent == key
                or (one.in_rounds and main.ordinal == "begun")
                or self._holder_of(one) is main
            )
            and one is not main
            and one.total is not None
            and not one.aside
        ]

    def _finer(self, main: Series) -> Series:
        """A count that went on when the outer one moved, and never fell, is of the run as well."""
        for one in self._inside(main):
            went_on = one.falls == 0 and not one.per_lap and one.born < main.moved < one.moved
            if went_on and main.moves > 0:
                return one
        return main

    def _add(self, key: str, series: Series) -> None:
        """Keep the table small even where a log names a thousand bars."""
        if len(self.series) >= _MAX_SERIES:
            least = min(
                self.series, key=lambda one: (self.series[one].moves, self.series[one].seen)
            )
            del self.series[least]
        self.series[key] = series


def _holds_runs(one: Series) -> bool:
    name = one.name.removeprefix("outer ").rstrip("s")
    return one.format == PARTS or (one.ordinal == "begun" and name in WHOLE_RUNS)


def _key(format_name: str, sighting: Sighting) -> str:
    total = "" if sighting.per_epoch else sighting.total
    return f"{format_name}\t{sighting.series}\t{sighting.unit or 'step'}\t{total}"

"""Metrics as a table, by commas, tabs, bars or blanks, whose first line names the columns.

A row says nothing without its header, so this is no `LineFormat`: `CsvHeader.read` knows a header
and gives the reader of the rows below it, which the log keeps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, Sighting, metric_name
from schedmate.tracker.formats.quantities import seconds_of
from schedmate.tracker.formats.total_names import total_names

_MAX_LENGTH = 8192
_MAX_COLUMNS = 200
_NAME = lazy_pattern(r"[A-Za-z_#][\w./@%()-]{0,60}")
_ALIGNED_NAME = lazy_pattern(r"[A-Za-z_][\w./@%()-]{0,30}(?: [\w./@%()-]{1,30})?|#")
_GAP = lazy_pattern(r" {2,200}")
_BLANKS = ""
"""What separates the columns of a table that is aligned for people."""
_BAR = "|"
_AROUND_BARS = "| "
_TIME = lazy_pattern(r"\d{1,9}(?:\.\d{1,9})?[smh]")
_CODED = lazy_pattern(r"\w[A-Z_/\d]")
"""No word of a sentence: `valid_loss`, `TotEng`, `ENTS_F`."""
_MIN_UNALIGNED = 4
_COUNTS: tuple[tuple[str, Unit], ...] = (
    ("global_step", "step"),
    ("step", "step"),
    ("steps", "step"),
    ("iteration", "step"),
    ("iter", "step"),
    ("update", "step"),
    ("timestep", "step"),
    ("total_timesteps", "step"),
    ("episode", "step"),
    ("round", "step"),
    ("tokens", "token"),
    ("tokens_seen", "token"),
    ("epoch", "epoch"),
)
_LEFT = "remaining_time"
"""As scikit-learn's boosting prints it, with its unit."""
_FIRST = frozenset(name for name, _ in _COUNTS) | {"e"}
_ELAPSED = frozenset({"elapsed", "elapsed_s", "elapsed_time", "time_elapsed", "wall_time"})
_NO_METRICS = frozenset(
    {"timestamp", "time", "date", "datetime", "run_id", "seed", "rank", "dur", _LEFT}
).union(_ELAPSED, (name for name, _ in _COUNTS))


@dataclass(slots=True)
class CsvRows:
    """Reads the rows below one header; all its state comes from the header."""

    separator: str
    columns: tuple[str, ...]

    def read(self, line: str) -> Sighting | None:
        if len(line) > _MAX_LENGTH:
            return None
        text = line.strip(_AROUND_BARS) if self.separator == _BAR else line
        cells = text.split(self.separator or None, len(self.columns))
        for_people = self.separator in (_BLANKS, _BAR)
        if len(cells) != len(self.columns) or (for_people and not cells[0].strip().isdecimal()):
            return None
        values = self._values(cells)
        return None if values is None else _sighting(values)

    def _values(self, cells: list[str]) -> dict[str, float] | None:
        """The cells that hold a number; None if it is none of these rows."""
        values: dict[str, float] = {}
        for name, cell in zip(self.columns, cells, strict=True):
            text = cell.strip().strip('"')
            try:
                values[name] = float(text)
            except ValueError:
                if name == _LEFT and _TIME.fullmatch(text):
                    values[name] = seconds_of(text) or 0.0
                elif text and name not in _NO_METRICS:
                    return None
        return values


class CsvHeader:
    """A line that names columns, one of which counts."""

    name = "csv"
    hints = ("epoch", "step", "iter", "update", "episode", "round", "tokens")

    def read(self, line: str) -> CsvRows | None:
        if len(line) > _MAX_LENGTH:
            return None
        separator = next((one for one in ("\t", ";", ",", _BAR) if one in line), _BLANKS)
        names = _separated(line, separator) if separator else _aligned(line)
        columns = tuple(metric_name(name).lstrip("#") for name in names)
        counted = any(name in columns for name, _ in _COUNTS)
        different = len(set(columns)) == len(columns) > 1
        return CsvRows(separator, columns) if counted and different else None


def _separated(line: str, separator: str) -> list[str]:
    name_in = _ALIGNED_NAME if separator == _BAR else _NAME
    text = line.strip(_AROUND_BARS) if separator == _BAR else line
    names = [name.strip().strip('"') for name in text.split(separator, _MAX_COLUMNS)]
    fitting = len(names) <= _MAX_COLUMNS and all(map(name_in.fullmatch, names))
    return names if fitting else []


def _aligned(line: str) -> list[str]:
    """Columns between blanks, the first of which counts; nothing that could be a sentence."""
    first, _, rest = line.partition(" ")
    if first.lower() not in _FIRST or not rest:
        return []
    names = _GAP.split(line.strip(), _MAX_COLUMNS)
    if len(names) == 1:
        names = line.split(" ", _MAX_COLUMNS)
        if len(names) < _MIN_UNALIGNED or not any(map(_CODED.search, names)):
            return []
    fitting = len(names) <= _MAX_COLUMNS and all(map(_ALIGNED_NAME.fullmatch, names))
    return _spelt_out(names) if fitting else []


def _spelt_out(names: list[str]) -> list[str]:
    """spaCy writes `E    #` where it counts epochs and steps."""
    return ["epoch", "step", *names[2:]] if names[:2] == ["E", "#"] else names


def _sighting(values: dict[str, float]) -> Sighting | None:
    for name, unit in _COUNTS:
        current = values.get(name, math.nan)
        if 0 <= current < MAX_COUNT:
            totals = [one for one in total_names(name) if values.get(one, 0.0) >= max(current, 1)]
            return Sighting(
                unit=unit,
                current=current,
                total=values[totals[0]] if totals and values[totals[0]] < MAX_COUNT else None,
                series=name,
                ordinal="ended" if unit == "epoch" and current.is_integer() else None,
                epoch=_usable(values.get("epoch")),
                elapsed_s=next(
                    (_usable(values[name]) for name in values if name in _ELAPSED), None
                ),
                eta_s=_usable(values.get(_LEFT)),
                metrics={
                    key: value
                    for key, value in values.items()
                    if key not in _NO_METRICS and key not in totals
                },
            )
    return None


def _usable(value: float | None) -> float | None:
    return value if value is not None and 0 <= value < MAX_COUNT else None

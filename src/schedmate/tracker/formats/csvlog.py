"""Metrics as a table of comma or tab separated values, whose first line names the columns.

A row says nothing without its header, so this is no `LineFormat`: `CsvHeader.read` knows a header
and gives the reader of the rows below it, which the log keeps.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from schedmate.model import Unit
from schedmate.tracker.formats.base import MOST, Sighting, metric_name

_LONGEST = 8192
_MOST_COLUMNS = 200
_NAME = re.compile(r"[A-Za-z_#][\w./@%()-]{0,60}")
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
_ELAPSED = frozenset({"elapsed", "elapsed_s", "elapsed_time", "time_elapsed", "wall_time"})
_NO_METRICS = frozenset({"timestamp", "time", "date", "datetime", "run_id", "seed", "rank"}).union(
    _ELAPSED, (name for name, _ in _COUNTS)
)


@dataclass(slots=True)
class CsvRows:
    """Reads the rows below one header; all its state is what the header said."""

    separator: str
    columns: tuple[str, ...]

    def read(self, line: str) -> Sighting | None:
        if len(line) > _LONGEST:
            return None
        cells = line.split(self.separator)
        if len(cells) != len(self.columns):
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
                if text and name not in _NO_METRICS:
                    return None
        return values


class CsvHeader:
    """A line that names columns, one of which counts."""

    name = "csv"
    hints = ("epoch", "step", "iter", "update", "episode", "round", "tokens")

    def read(self, line: str) -> CsvRows | None:
        separator = "\t" if "\t" in line else ","
        if len(line) > _LONGEST or separator not in line:
            return None
        names = [name.strip().strip('"') for name in line.split(separator)]
        if len(names) > _MOST_COLUMNS or not all(map(_NAME.fullmatch, names)):
            return None
        columns = tuple(metric_name(name).lstrip("#") for name in names)
        counted = any(name in columns for name, _ in _COUNTS)
        different = len(set(columns)) == len(columns)
        return CsvRows(separator, columns) if counted and different else None


def _sighting(values: dict[str, float]) -> Sighting | None:
    for name, unit in _COUNTS:
        current = values.get(name, math.nan)
        if 0 <= current < MOST:
            return Sighting(
                unit=unit,
                current=current,
                series=name,
                ordinal="ended" if unit == "epoch" and current.is_integer() else None,
                epoch=_usable(values.get("epoch")),
                elapsed_s=next(
                    (_usable(values[name]) for name in values if name in _ELAPSED), None
                ),
                metrics={key: value for key, value in values.items() if key not in _NO_METRICS},
            )
    return None


def _usable(value: float | None) -> float | None:
    return value if value is not None and 0 <= value < MOST else None

"""Tables with a header line: what the CSV formats have in common."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from schedmate.simulator.traces.base import Trace
from schedmate.simulator.traces.gathering import JobOf, Rows, gather
from schedmate.simulator.traces.opening import head_lines, opened


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """A table that is known by its columns."""

    name: str
    needed: tuple[str, ...]
    job_of: JobOf
    prepare: Callable[[Rows], Rows] = iter
    """What has to be done to the rows one after the other before each is looked at alone."""

    def sniff(self, path: Path) -> bool:
        return not self.missing(path)

    def missing(self, path: Path) -> list[str]:
        """The columns that are needed and not there."""
        present = set(header_of(path))
        return [name for name in self.needed if name not in present]

    def read(self, path: Path) -> Trace:
        with opened(path) as file:
            return gather(path.name, self.prepare(csv_rows(file)), self.job_of)


def header_of(path: Path) -> list[str]:
    try:
        return columns_of_header(next(csv.reader(head_lines(path)[:1]), []))
    except csv.Error:
        return []


def columns_of_header(cells: list[str]) -> list[str]:
    return [name.strip().lower() for name in cells]


def csv_rows(file: IO[str], columns: list[str] | None = None) -> Rows:
    """The rows by the names of their columns: those of the header line, unless they are named."""
    reader = csv.reader(file)
    names = columns_of_header(next(reader)) if columns is None else columns
    for cells in _without_csv_errors(reader):
        line = reader.line_num
        if isinstance(cells, str):
            yield line, cells
        elif not cells:
            continue
        elif len(cells) != len(names):
            yield line, f"has {len(cells)} columns, the header has {len(names)}"
        else:
            yield line, dict(zip(names, cells, strict=True))


def numbered(rows: Rows) -> Rows:
    """For tables whose jobs have no id: they are numbered from 1."""
    for number, (line, row) in enumerate(rows, start=1):
        yield line, row if isinstance(row, str) else {**row, "job_id": str(number)}


def _without_csv_errors(reader: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """Go on behind a line that is no CSV."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield f"is no CSV: {error}"

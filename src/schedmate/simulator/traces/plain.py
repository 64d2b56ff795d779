"""The plain trace table as CSV, gzipped or not."""

from __future__ import annotations

import csv
import gzip
import zlib
from typing import IO, TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.simulator.traces.table import Rows, from_rows, missing_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from schedmate.simulator.traces.base import Trace

_GZIP_MAGIC = b"\x1f\x8b"
_HEADER_CHARS = 65_536
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


class PlainCsv:
    name = "plain CSV"

    def sniff(self, path: Path) -> bool:
        try:
            with _open(path) as file:
                header = file.readline(_HEADER_CHARS)
            return not missing_columns(_columns(next(csv.reader([header]), [])))
        except (*_BROKEN_GZIP, csv.Error):
            return False

    def read(self, path: Path) -> Trace:
        try:
            with _open(path) as file:
                return from_rows(path.name, _rows(file))
        except _BROKEN_GZIP as error:
            raise BadInput(f"{path} is a broken gzip file ({error}); fetch it again") from error


def _open(path: Path) -> IO[str]:
    """A user's name in some old encoding is no reason to refuse a trace: replace what is odd."""
    with path.open("rb") as raw:
        zipped = raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    opener = gzip.open if zipped else open
    return opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="")


def _columns(header: list[str]) -> list[str]:
    return [name.strip().lower() for name in header]


def _rows(file: IO[str]) -> Rows:
    reader = csv.reader(file)
    columns = _columns(next(reader))
    for cells in _without_csv_errors(reader):
        line = reader.line_num
        if isinstance(cells, str):
            yield line, cells
        elif not cells:
            continue
        elif len(cells) != len(columns):
            yield line, f"has {len(cells)} columns, the header has {len(columns)}"
        else:
            yield line, dict(zip(columns, cells, strict=True))


def _without_csv_errors(reader: Iterator[list[str]]) -> Iterator[list[str] | str]:
    """Go on behind a line that is no CSV."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield f"is no CSV: {error}"

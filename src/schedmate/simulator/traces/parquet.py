"""The plain trace table as Parquet, where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from schedmate.model import BadInput
from schedmate.model.extras import needs
from schedmate.simulator.traces.base import Trace
from schedmate.simulator.traces.gathering import Rows
from schedmate.simulator.traces.opening import head_bytes, opened_bytes
from schedmate.simulator.traces.table import OPTIONAL, REQUIRED, from_rows, missing_columns

_MAGIC = b"PAR1"
_ROWS_AT_ONCE = 20_000


class PlainParquet:
    name = "plain Parquet"

    def sniff(self, path: Path) -> bool:
        return head_bytes(path).startswith(_MAGIC)

    def read(self, path: Path) -> Trace:
        parquet = _library(f"{path} is a Parquet file", "give the table as CSV")
        with opened_bytes(path) as file:
            try:
                table = parquet.ParquetFile(file)
            except Exception as error:  # pyarrow raises its own kinds, which we cannot name here
                raise BadInput(f"{path} is a broken Parquet file ({error})") from error
            columns = [name.strip().lower() for name in table.schema_arrow.names]
            if missing := missing_columns(columns):
                raise BadInput(
                    f"{path} lacks {', '.join(missing)}; needed are {', '.join(REQUIRED)}"
                )
            return from_rows(path.name, _rows(path, table, columns))


def _rows(path: Path, table: Any, columns: list[str]) -> Rows:
    """A batch at a time: a million rows as dicts would not fit where the jobs do."""
    wanted = {name: at for at, name in enumerate(columns) if name in (*REQUIRED, *OPTIONAL)}
    line = 0
    for batch in _batches(path, table):
        values = [batch.column(at).to_pylist() for at in wanted.values()]
        for row in zip(*values, strict=True):
            line += 1
            yield line, dict(zip(wanted, row, strict=True))


def _batches(path: Path, table: Any) -> Iterator[Any]:
    try:
        yield from table.iter_batches(batch_size=_ROWS_AT_ONCE)
    except OSError as error:
        raise BadInput(f"{path} is a broken Parquet file ({error})") from error


def write_parquet(trace: Trace, path: Path) -> None:
    """Write the jobs as the plain table, which `read_trace` reads back as they are."""
    parquet = _library("to write Parquet", "write the table as CSV")
    pyarrow = import_module("pyarrow")
    columns = {name: [getattr(job, name) for job in trace.jobs] for name in (*REQUIRED, *OPTIONAL)}
    columns["status"] = [job.status.value for job in trace.jobs]
    parquet.write_table(pyarrow.table(columns), path, compression="zstd")


def _library(why: str, instead: str) -> Any:
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise BadInput(f"{needs(f'{why} takes', 'pyarrow')}; or {instead}") from None

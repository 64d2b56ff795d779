"""The plain trace table as Parquet, where pyarrow is installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from schedmate.model import BadInput
from schedmate.simulator.traces.table import REQUIRED, from_rows, missing_columns

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.simulator.traces.base import Trace

_MAGIC = b"PAR1"


class PlainParquet:
    name = "plain Parquet"

    def sniff(self, path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC

    def read(self, path: Path) -> Trace:
        try:
            parquet = import_module("pyarrow.parquet")
        except ImportError:
            raise BadInput(
                f"{path} is a Parquet file: install pyarrow to read it, or give the table as CSV"
            ) from None
        try:
            table = parquet.read_table(path)
        except Exception as error:  # pyarrow raises its own kinds, which we cannot name here
            raise BadInput(f"{path} is a broken Parquet file ({error})") from error
        table = table.rename_columns([name.strip().lower() for name in table.column_names])
        if missing := missing_columns(table.column_names):
            raise BadInput(f"{path} lacks {', '.join(missing)}; needed are {', '.join(REQUIRED)}")
        return from_rows(path.name, enumerate(table.to_pylist(), start=1))

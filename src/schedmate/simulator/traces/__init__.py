"""Readers of job traces. To add one: a file beside this one, and its instance in `READERS`."""

from __future__ import annotations

from pathlib import Path

from schedmate.model import BadInput, NotFound
from schedmate.simulator.traces.base import BadRow, Trace, TraceJob, TraceReader
from schedmate.simulator.traces.finished import from_job
from schedmate.simulator.traces.parquet import PlainParquet
from schedmate.simulator.traces.plain import PlainCsv
from schedmate.simulator.traces.synthetic import synthetic
from schedmate.simulator.traces.table import REQUIRED

READERS: tuple[TraceReader, ...] = (PlainCsv(), PlainParquet())


def read_trace(path: Path) -> Trace:
    """Read a trace in whichever known format it is; a trace without a usable job is an error."""
    if not path.exists():
        raise NotFound(f"there is no file {path}")
    if path.is_dir():
        raise BadInput(f"{path} is a directory; name the trace files in it")
    reader = next((reader for reader in READERS if reader.sniff(path)), None)
    if reader is None:
        raise BadInput(
            f"{path} is no trace that we can read; a CSV table needs a header line with the "
            f"columns {', '.join(REQUIRED)}"
        )
    trace = reader.read(path)
    if not trace.jobs:
        raise BadInput(f"{path} has no usable job: {_why_none(trace)}")
    return trace


def _why_none(trace: Trace) -> str:
    if not trace.bad_rows:
        return "there is nothing below the header"
    return f"{len(trace.bad_rows)} bad rows, the first one {trace.bad_rows[0]}"


__all__ = [
    "READERS",
    "BadRow",
    "Trace",
    "TraceJob",
    "TraceReader",
    "from_job",
    "read_trace",
    "synthetic",
]

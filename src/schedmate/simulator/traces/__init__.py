"""Readers of job traces. To add one: a file beside this one, and its line in `READERS`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schedmate.model import BadInput
from schedmate.simulator.traces.acme import ACME
from schedmate.simulator.traces.alcf import ALCF
from schedmate.simulator.traces.base import BadRow, Trace, TraceJob, TraceReader
from schedmate.simulator.traces.dirlab import DIRLAB
from schedmate.simulator.traces.finished import from_job
from schedmate.simulator.traces.helios import HELIOS
from schedmate.simulator.traces.itp import ITP
from schedmate.simulator.traces.lsf import LSF
from schedmate.simulator.traces.openb import OPENB
from schedmate.simulator.traces.opening import head_lines, only_a_regular_file, why_unreadable
from schedmate.simulator.traces.pai import PaiJobs, PaiTasks
from schedmate.simulator.traces.parquet import PlainParquet, write_parquet
from schedmate.simulator.traces.philly import PhillyJson
from schedmate.simulator.traces.philly_csv import PHILLY_CSV
from schedmate.simulator.traces.plain import PLAIN_CSV
from schedmate.simulator.traces.sacct import Sacct
from schedmate.simulator.traces.sacct import what_it_lacks as what_sacct_lacks
from schedmate.simulator.traces.separated import CsvFormat
from schedmate.simulator.traces.store import StoreTrace
from schedmate.simulator.traces.swf import Swf
from schedmate.simulator.traces.synthetic import synthetic
from schedmate.simulator.traces.table import REQUIRED

READERS: tuple[TraceReader, ...] = (
    PLAIN_CSV,
    PlainParquet(),
    HELIOS,
    ACME,
    PHILLY_CSV,
    PhillyJson(),
    ITP,
    DIRLAB,
    ALCF,
    OPENB,
    PaiTasks(),
    PaiJobs(),
    LSF,
    Sacct(),
    StoreTrace(),
    Swf(),
)


def read_trace(path: Path, readers: Sequence[TraceReader] = READERS) -> Trace:
    """Read a trace in whichever known format it is; a trace without a usable job is an error."""
    try:
        only_a_regular_file(path)
        reader = next((reader for reader in readers if reader.sniff(path)), None)
        if reader is None:
            raise BadInput(_what_it_lacks(path, readers))
        trace = reader.read(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    if not trace.jobs:
        raise BadInput(f"{path} has no usable job: {_why_none(trace)}")
    return trace


def _what_it_lacks(path: Path, readers: Sequence[TraceReader]) -> str:
    """Name the format that it nearly is, if there is one."""
    if why := why_unreadable(path):
        return f"{path} is no trace that we can read; {why}"
    if hint := what_sacct_lacks(head_lines(path)):
        return f"{path} {hint}"
    tables = [reader for reader in readers if isinstance(reader, CsvFormat)]
    lacking = {table: table.missing(path) for table in tables}
    nearest = min(tables, key=lambda table: len(lacking[table]) / len(table.needed), default=None)
    if nearest and 2 * len(lacking[nearest]) < len(nearest.needed):
        return (
            f"{path} is no trace that we can read; {nearest.name}, which is nearest, needs a "
            f"header line with the columns {', '.join(nearest.needed)}, and it lacks "
            f"{', '.join(lacking[nearest])}"
        )
    return (
        f"{path} is no trace that we can read; a CSV table needs a header line with the "
        f"columns {', '.join(REQUIRED)}"
    )


def _why_none(trace: Trace) -> str:
    why = [f"{count} {reason}" for reason, count in trace.left_out.items()]
    if trace.bad_rows:
        why.append(f"{len(trace.bad_rows)} bad rows, the first one {trace.bad_rows[0]}")
    return "; ".join(why) or "there is nothing below the header"


__all__ = [
    "READERS",
    "BadRow",
    "Trace",
    "TraceJob",
    "TraceReader",
    "from_job",
    "read_trace",
    "synthetic",
    "write_parquet",
]

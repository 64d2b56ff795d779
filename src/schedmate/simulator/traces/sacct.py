"""What `sacct --parsable2` (or `-p`) prints, with its header line: Slurm's own accounting.

Any `--delimiter` that is one of `_DELIMITERS` is read. The columns that sacct aligns by default cut
names and times off, and are refused with what to type instead.

Steps are left out. With `--duplicates` a job that was requeued has a row a run: each is a job of
its own, the second of job 812 is called `812#2`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import Trace, TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.finished import SIZE_AS_IT_WAS, most_in_use
from schedmate.simulator.traces.gathering import LeftOut, Rows, gather
from schedmate.simulator.traces.opening import head_lines, opened

NEEDED = ("jobid", "submit", "state")
_TIMES = ("elapsed", "elapsedraw", "end")
_RESOURCES = ("alloctres", "reqtres", "allocgres", "reqgres")
_SPAN = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2})(?:\.\d{1,6})?")
_GPUS = re.compile(r"(?:^|,)(?:gres/)?gpu(?::(?P<type>[^=:,]{1,80}))?[=:](?P<count>\d{1,7})")
_DELIMITERS = "|;\t,^"
ASK_AGAIN = (
    "sacct --parsable2 --allusers --format=JobID,User,Submit,Start,Elapsed,State,AllocTRES,"
    "Timelimit,Partition,JobName,NNodes"
)
_JOB_ID = re.compile(r"\d{1,12}(?:_\S{1,40})?(?:\.\w{1,20})?")
_STATE = re.compile(
    r"(?:COMPLETED|FAILED|TIMEOUT|CANCELLED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|RUNNING|PENDING)"
    r"(?: by \d{1,12})?"
)
_RESOURCE = re.compile(r"[\w/:.-]{1,80}[=:]\S{0,40}")
_UNKNOWN = ("", "Unknown", "None", "N/A")


class Sacct:
    name = "sacct"

    def sniff(self, path: Path) -> bool:
        header = next(iter(head_lines(path)), "")
        columns = _columns(header, _delimiter(header))
        return (
            all(name in columns for name in NEEDED)
            and any(name in columns for name in _TIMES)
            and any(name in columns for name in _RESOURCES)
        )

    def read(self, path: Path) -> Trace:
        with opened(path) as file:
            trace = gather(path.name, _runs(_rows(file)), _job_of)
        most = most_in_use(trace.jobs)
        return trace if most is None else replace(trace, gpus=most, notes=(SIZE_AS_IT_WAS,))


def what_it_lacks(lines: Sequence[str]) -> str | None:
    """What to do about output of sacct that is no trace as it is; None where it is none of it."""
    if is_aligned(lines):
        return f"is a table that sacct printed for people, cut to columns: take {ASK_AGAIN}"
    header = lines[0] if lines else ""
    delimiter = _delimiter(header)
    columns = _columns(header, delimiter)
    if "jobid" in columns:
        kinds = ([each] for each in NEEDED)
        lacking = [each for each in (*kinds, _TIMES, _RESOURCES) if not set(each) & set(columns)]
        names = ", ".join(each[0] for each in lacking)
        return f"is what sacct prints, without {names}: take {ASK_AGAIN}"
    first = header.split(delimiter)
    if len(first) > 1 and _JOB_ID.fullmatch(first[0]) and any(map(_STATE.fullmatch, first)):
        return f"is what sacct prints without its header line: take {ASK_AGAIN}"
    return None


def is_aligned(lines: Sequence[str]) -> bool:
    """Whether it is what sacct prints for people: a header, and dashes below it."""
    if len(lines) < 2:  # noqa: PLR2004 - a header and the dashes
        return False
    words = lines[0].lower().split()
    return "jobid" in words and bool(lines[1].strip()) and set(lines[1]) <= set("- ")


def _delimiter(header: str) -> str:
    """The one that parts the header into most columns; `sacct -p` has one at the end, too."""
    return max(_DELIMITERS, key=header.count)


def _columns(header: str, delimiter: str) -> list[str]:
    return [name.strip().lower() for name in header.rstrip("\r\n").split(delimiter)]


def _rows(file: IO[str]) -> Rows:
    header = next(file, "")
    delimiter = _delimiter(header)
    columns = _columns(header, delimiter)
    for line, text in enumerate(file, start=2):
        cells_of_row = text.rstrip("\r\n").split(delimiter)
        if cells_of_row == [""]:
            continue
        if delimiter == ",":
            cells_of_row = _with_whole_resources(cells_of_row, columns)
        found = _with_whole_name(cells_of_row, columns, delimiter)
        if len(found) == len(columns):
            yield line, dict(zip(columns, found, strict=True))
        else:
            yield line, f"has {len(found)} columns, the header has {len(columns)}"


def _with_whole_resources(found: list[str], columns: list[str]) -> list[str]:
    """Between commas, `cpu=4,gres/gpu=1,node=1` is one cell."""
    joined: list[str] = []
    rest = list(found)
    for column in columns:
        cell = rest.pop(0) if rest else ""
        surplus = len(rest) - (len(columns) - len(joined) - 1)
        while column in _RESOURCES and surplus > 0 and _RESOURCE.fullmatch(rest[0]):
            cell, surplus = f"{cell},{rest.pop(0)}", surplus - 1
        joined.append(cell)
    return [*joined, *rest]


def _with_whole_name(found: list[str], columns: list[str], delimiter: str) -> list[str]:
    """sacct escapes its delimiter neither in the name of a job nor in what was submitted; of the
    two, it is taken to be in the last column."""
    surplus = len(found) - len(columns)
    free = "submitline" if columns[-1] == "submitline" else "jobname"
    if surplus <= 0 or free not in columns:
        return found
    at = columns.index(free)
    return [*found[:at], delimiter.join(found[at : at + surplus + 1]), *found[at + surplus + 1 :]]


def _runs(rows: Rows) -> Rows:
    """Without steps, and with the number of the run behind the id of a job that ran again."""
    runs: Counter[str] = Counter()
    for line, row in rows:
        if isinstance(row, str):
            yield line, row
        elif "." not in row["jobid"]:
            runs[row["jobid"]] += 1
            run = runs[row["jobid"]]
            yield line, row if run == 1 else {**row, "jobid": f"{row['jobid']}#{run}"}


def _job_of(row: Row) -> TraceJob | LeftOut:
    state = cells.slurm_state(row, "state")
    if not state.ended:
        return LeftOut.STILL_RUNNING
    gpus, kind = _gpus(row)
    if not gpus:
        return LeftOut.NO_GPU
    started = _time(row, "start")
    if "start" in row and started is None:
        return LeftOut.NEVER_RAN
    return TraceJob(
        job_id=cells.text(row, "jobid"),
        user=cells.text(row, "user"),
        submit_time=cells.time(row, "submit"),
        duration=_ran(row, started),
        gpus=gpus,
        status=state,
        name=cells.text(row, "jobname"),
        group=cells.text(row, "partition") or None,
        nodes=cells.count(row, "nnodes" if "nnodes" in row else "allocnodes"),
        time_limit=_limit(row),
        workdir=cells.text(row, "workdir") or None,
        start_time=started,
        gpu_type=kind,
        command=cells.text(row, "submitline") or None,
    )


def _gpus(row: Row) -> tuple[int, str | None]:
    """Of what was given, else of what was asked for. Slurm tells a typed GPU twice: the sum over
    all types stands there without a type."""
    for column in _RESOURCES:
        found = [*_GPUS.finditer(cells.text(row, column))]
        if found:
            whole = [int(each["count"]) for each in found if each["type"] is None]
            typed = [each for each in found if each["type"] is not None]
            gpus = whole[0] if whole else sum(int(each["count"]) for each in typed)
            return gpus, typed[0]["type"] if len(typed) == 1 else None
    return 0, None


def _time(row: Row, column: str) -> float | None:
    return None if cells.text(row, column) in _UNKNOWN else cells.time(row, column)


def _ran(row: Row, started: float | None) -> float:
    """`Elapsed` is without the time it was suspended, so it goes before the times."""
    if cells.given(row, "elapsedraw"):
        return cells.number(row, "elapsedraw")
    if cells.given(row, "elapsed"):
        return _span(row, "elapsed")
    ended = _time(row, "end")
    if ended is None or started is None:
        raise ValueError("neither Elapsed nor Start and End say how long it ran")
    return ended - started


def _limit(row: Row) -> float | None:
    if cells.given(row, "timelimitraw") and row["timelimitraw"].isdigit():
        return 60 * cells.number(row, "timelimitraw")
    known = _SPAN.fullmatch(cells.text(row, "timelimit"))
    return _span(row, "timelimit") if known else None


def _span(row: Row, column: str) -> float:
    """`[D-][HH:]MM:SS`"""
    found = _SPAN.fullmatch(cells.text(row, column))
    if found is None:
        raise ValueError(f"{column} is {cells.shown(row.get(column))}, not as 1-02:03:04")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)

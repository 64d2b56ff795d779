"""The plain trace table: its columns, and how one row of them becomes a job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from schedmate.model import JobState
from schedmate.simulator.traces.base import BadRow, Trace, TraceJob

REQUIRED = ("job_id", "user", "submit_time", "duration", "gpus")

_SLURM_ALIASES = {
    "BOOT_FAIL": JobState.NODE_FAIL,
    "DEADLINE": JobState.TIMEOUT,
    "REVOKED": JobState.CANCELLED,
}

Row = Mapping[str, Any]
Rows = Iterable[tuple[int, Row | str]]
"""Line numbers with the row that stands there, or with what makes it unreadable."""


def missing_columns(columns: Iterable[str]) -> list[str]:
    present = set(columns)
    return [name for name in REQUIRED if name not in present]


def from_rows(name: str, rows: Rows) -> Trace:
    """Keep the good rows, and say of each other one where it is and what is wrong."""
    jobs: dict[str, TraceJob] = {}
    bad: list[BadRow] = []
    for line, row in rows:
        try:
            job = _job(row)
            if job.job_id in jobs:
                raise ValueError(f"job id {job.job_id!r} is there twice")  # noqa: TRY301 - one place counts bad rows
        except ValueError as error:
            bad.append(BadRow(line, str(error)))
        else:
            jobs[job.job_id] = job
    return Trace(name=name, jobs=tuple(jobs.values()), bad_rows=tuple(bad))


def _job(row: Row | str) -> TraceJob:
    if isinstance(row, str):
        raise ValueError(row)  # noqa: TRY004 - it is the row that is wrong, not its type
    return TraceJob(
        job_id=_text(row, "job_id"),
        user=_text(row, "user"),
        submit_time=_time(row, "submit_time"),
        duration=_number(row, "duration"),
        gpus=_whole(row, "gpus"),
        status=_status(row),
        name=_text(row, "name"),
        group=_text(row, "group") or None,
        nodes=_whole(row, "nodes") if _given(row, "nodes") else 1,
        time_limit=_number(row, "time_limit") if _given(row, "time_limit") else None,
        script=_text(row, "script") or None,
        workdir=_text(row, "workdir") or None,
        start_time=_time(row, "start_time") if _given(row, "start_time") else None,
        gpu_type=_text(row, "gpu_type") or None,
    )


def _given(row: Row, column: str) -> bool:
    return row.get(column) not in (None, "")


def _text(row: Row, column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value).strip()


def _number(row: Row, column: str) -> float:
    value = row.get(column)
    try:
        number = float(value)  # type: ignore[arg-type]  # None and the like are caught below
    except (TypeError, ValueError):
        raise ValueError(f"{column} is {_shown(value)}, not a number of seconds") from None
    if not math.isfinite(number):
        raise ValueError(f"{column} is {_shown(value)}")
    return number


def _whole(row: Row, column: str) -> int:
    value = row.get(column)
    try:
        number = float(value)  # type: ignore[arg-type]  # None and the like are caught below
        if number.is_integer():
            return int(number)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{column} is {_shown(value)}, not a whole number")


def _time(row: Row, column: str) -> float:
    """Seconds as they are; ISO 8601 as seconds since the epoch, UTC where it names no zone."""
    value = row.get(column)
    try:
        return _number(row, column)
    except ValueError:
        pass
    try:
        when = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise ValueError(f"{column} is {_shown(value)}, neither seconds nor ISO 8601") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _status(row: Row) -> JobState:
    """Slurm's words; `CANCELLED by 1000`, as sacct writes it, is one of them."""
    if not _given(row, "status"):
        return JobState.COMPLETED
    word = str(row["status"]).strip().upper().split(" ")[0].rstrip("+")
    try:
        return _SLURM_ALIASES.get(word) or JobState(word)
    except ValueError:
        raise ValueError(f"status is {_shown(row['status'])}, no state that we know") from None


def _shown(value: object) -> str:
    longest = 40
    text = str(value)
    return repr(text if len(text) <= longest else text[:longest] + "…") if text else "empty"

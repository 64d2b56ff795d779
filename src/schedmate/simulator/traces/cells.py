"""What stands in one cell of a row, or a `ValueError` that says what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from schedmate.model import JobState

Row = Mapping[str, Any]

_SLURM_STATES = {
    **{state.value: state for state in JobState},
    "BOOT_FAIL": JobState.NODE_FAIL,
    "DEADLINE": JobState.TIMEOUT,
    "REVOKED": JobState.CANCELLED,
    "REQUEUED": JobState.PREEMPTED,
    "SUSPENDED": JobState.RUNNING,
    "COMPLETING": JobState.RUNNING,
    "CONFIGURING": JobState.PENDING,
}
_PHILLY_STATES = {
    "pass": JobState.COMPLETED,
    "killed": JobState.CANCELLED,
    "failed": JobState.FAILED,
}
_SHOWN_CHARS = 40


def given(row: Row, column: str) -> bool:
    return row.get(column) not in (None, "")


def text(row: Row, column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value).strip()


def number(row: Row, column: str) -> float:
    value = row.get(column)
    try:
        found = float(value)  # type: ignore[arg-type]  # None and the like are caught below
    except (TypeError, ValueError):
        raise ValueError(f"{column} is {shown(value)}, not a number of seconds") from None
    if not math.isfinite(found):
        raise ValueError(f"{column} is {shown(value)}")
    return found


def whole(row: Row, column: str) -> int:
    value = row.get(column)
    try:
        found = float(value)  # type: ignore[arg-type]  # None and the like are caught below
        if found.is_integer():
            return int(found)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{column} is {shown(value)}, not a whole number")


def count(row: Row, column: str) -> int:
    """A whole number of at least one; one where the cell is empty."""
    return max(1, whole(row, column)) if given(row, column) else 1


def seconds(row: Row, column: str) -> float | None:
    """A length of time, if it is given and is one: tables write 0 or -1 for "unknown"."""
    found = number(row, column) if given(row, column) else 0.0
    return found if found > 0 else None


def time(row: Row, column: str) -> float:
    """Seconds as they are; ISO 8601 as seconds since the epoch, UTC where it names no zone."""
    value = row.get(column)
    if isinstance(value, str) and ":" in value:
        return _iso_time(column, value)
    try:
        found = float(value)  # type: ignore[arg-type]  # None and the like are caught below
    except (TypeError, ValueError):
        return _iso_time(column, value)
    return found if math.isfinite(found) else _iso_time(column, value)


def time_if_given(row: Row, column: str) -> float | None:
    return time(row, column) if given(row, column) else None


def _iso_time(column: str, value: object) -> float:
    try:
        when = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise ValueError(f"{column} is {shown(value)}, neither seconds nor ISO 8601") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def slurm_state(row: Row, column: str) -> JobState:
    """Slurm's words; `CANCELLED by 1000`, as sacct writes it, is one of them."""
    value = row.get(column)
    if value in (None, ""):
        return JobState.COMPLETED
    state = _SLURM_STATES.get(value) or _SLURM_STATES.get(_first_word(value))
    if state is None:
        raise ValueError(f"{column} is {shown(value)}, no state that we know")
    return state


def _first_word(value: object) -> str:
    return str(value).strip().upper().split(" ")[0].rstrip("+")


def philly_state(row: Row, column: str) -> JobState:
    """`Pass`, `Killed` or `Failed`, as Philly and the tables made after it say."""
    try:
        return _PHILLY_STATES[text(row, column).lower()]
    except KeyError:
        raise ValueError(
            f"{column} is {shown(row.get(column))}; known are Pass, Killed and Failed"
        ) from None


def shown(value: object) -> str:
    """A cell as it is shown to a person: never long."""
    found = str(value)
    cut = found if len(found) <= _SHOWN_CHARS else found[:_SHOWN_CHARS] + "…"
    return repr(cut) if found else "empty"

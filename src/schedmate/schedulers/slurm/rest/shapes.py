"""What slurmrestd's values look like: each reader takes every shape that any version gives.

Up to v0.0.38 a number is a number, null where it is not set or infinite. Later it is
`{"set": true, "infinite": false, "number": 3}`. States, flags and features are text or lists.
"""

from __future__ import annotations

import re
from typing import Any

Found = dict[str, Any]
_SIGN_BIT, _NEGATIVE = 2**31, 2**32
_STATE_FLAGS = (
    "COMPLETING",
    "STAGE_OUT",
    "CONFIGURING",
    "RESIZING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "STOPPED",
    "REVOKED",
    "RESV_DEL_HOLD",
    "SIGNALING",
)
"""In the order in which squeue shows the first of them instead of the state itself."""
_RANGE = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")


def number(value: object) -> int | None:
    """None where it is not set or infinite."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def signed(value: object) -> int | None:
    """A number that an old slurmrestd shows without its sign: 4294967291 is -5."""
    found = number(value)
    return found - _NEGATIVE if found is not None and _SIGN_BIT <= found < _NEGATIVE else found


def text(value: object) -> str:
    """Lists are joined by commas."""
    if isinstance(value, list):
        return ",".join(text(one) for one in value)
    if isinstance(value, dict):
        value = number(value)
    return "" if value is None else str(value)


def words(value: object) -> list[str]:
    """Of a list, or of a text with commas."""
    return [word for word in text(value).split(",") if word]


def job_state(value: object) -> str:
    """As squeue shows it."""
    found = words(value)
    return next((flag for flag in _STATE_FLAGS if flag in found), found[0] if found else "")


def exit_code(value: object) -> str:
    """The status of wait(2), or `code:signal`."""
    if not isinstance(value, dict) or "return_code" not in value:
        return text(value)
    signal = value.get("signal") or {}
    killed = number(signal.get("id", signal.get("signal_id"))) or 0
    return f"{number(value['return_code']) or 0}:{killed}"


def minutes(value: object) -> str:
    """A limit as squeue writes it."""
    found = number(value)
    return "UNLIMITED" if found is None else f"{found}:00"


def tasks(spec: str) -> list[int] | None:
    """`0-1,3,8-12:2%2` as numbers; None where slurmrestd has cut it short."""
    found: list[int] = []
    for piece in spec.partition("%")[0].split(","):
        match = _RANGE.fullmatch(piece)
        if match is None:
            return None
        first, last, step = match.groups()
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return found

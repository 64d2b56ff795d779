"""How long a log was written, by its file's own times."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

_AT_EMPTY_PATH, _BIRTH = 0x1000, 0x800
_STATX_BYTES, _MASK_AT, _BIRTH_AT = 256, 0, 80
"""Of `struct statx` of Linux: its size, where its mask is, where the birth time is."""
_SHORTEST_S = 5.0
"""A copied log is written in an instant."""


@dataclass(frozen=True, slots=True)
class WrittenSpan:
    """From the creation of a log's file to its last write."""

    begun: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.begun


def written_span(file: int) -> WrittenSpan | None:
    """Of an open file; None where its file system does not keep it or it may be a copy."""
    begun = _born_at(file)
    if begun is None:
        return None
    span = WrittenSpan(begun, os.fstat(file).st_mtime)
    return span if span.seconds >= _SHORTEST_S else None


def _born_at(file: int) -> float | None:
    """`os.stat` does not give it on Linux."""
    found = os.fstat(file)
    born = getattr(found, "st_birthtime", None)
    if born is not None:
        return float(born)
    import ctypes  # noqa: PLC0415 - slow to import, and needed only for logs without times

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):
        return None
    answer = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(file, b"", _AT_EMPTY_PATH, _BIRTH, answer) != 0:
        return None
    mask = _number(answer.raw[_MASK_AT : _MASK_AT + 4])
    seconds = _number(answer.raw[_BIRTH_AT : _BIRTH_AT + 8])
    nanoseconds = _number(answer.raw[_BIRTH_AT + 8 : _BIRTH_AT + 12])
    return seconds + nanoseconds / 1e9 if mask & _BIRTH else None


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, sys.byteorder)

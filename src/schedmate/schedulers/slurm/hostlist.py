"""Slurm's short way to write many host names: `gpu[01-03,7]` is gpu01, gpu02, gpu03, gpu7."""

from __future__ import annotations

import re
from itertools import product

_LARGEST_RANGE = 65536
_PART = re.compile(r"\[([^\]]*)\]|([^\[\]]+)")


def expand(hostlist: str) -> tuple[str, ...]:
    return tuple(
        host for item in _outside_brackets(hostlist) for host in _expand_one(item.strip()) if host
    )


def _outside_brackets(text: str) -> list[str]:
    return re.split(r",(?![^\[]*\])", text)


def _expand_one(item: str) -> list[str]:
    choices = [_numbers(ranges) if ranges else [plain] for ranges, plain in _PART.findall(item)]
    return ["".join(parts) for parts in product(*choices)]


def _numbers(ranges: str) -> list[str]:
    found: list[str] = []
    for piece in ranges.split(","):
        first, _, last = piece.partition("-")
        if not (first.isdecimal() and last.isdecimal()):
            found.append(piece)
            continue
        count = min(int(last) - int(first) + 1, _LARGEST_RANGE)
        found += [str(int(first) + step).zfill(len(first)) for step in range(count)]
    return found

"""What a made-up log is: lines, each with the truth about the progress that it states."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

Truth = tuple[float, float | None]
"""Where the count stands, and its total if the log states one."""
Line = str | tuple[str, *tuple[Truth, ...]]
"""Noise, or a line of progress with every reading of it that is right."""
Log = Callable[[random.Random], Iterator[Line]]

SHARE = 0.4
"""The part of a run after which the tracker is asked."""
LEAST_LINES = 24


def written(log: Log, seed: int = 1) -> list[Line]:
    lines = list(log(random.Random(seed)))
    return lines[: max(LEAST_LINES, int(SHARE * len(lines)))]

"""Home-made logs with the time of each line, and what is right at some of these times.

`logs.tar.xz` holds for each log `full.log.tsv` (seconds since the start, tab, text) and
`truth.json`: what it counts, and `cuts`, how far it was after its first so many lines.
`accept_counts` are other
right pairs of count and total; the count of an inner loop alone is none.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ARCHIVE = Path(__file__).with_name("logs.tar.xz")


@dataclass(frozen=True, slots=True)
class TimedLog:
    name: str
    lines: tuple[tuple[float, str], ...]
    truth: dict[str, Any]

    @property
    def training(self) -> bool:
        return bool(self.truth["kind"] == "training")

    @property
    def duration_s(self) -> float:
        return float(self.truth.get("duration_s") or self.lines[-1][0])


def timed_logs() -> Iterator[TimedLog]:
    files: dict[str, dict[str, str]] = {}
    with tarfile.open(_ARCHIVE) as archive:
        for member in archive.getmembers():
            name, _, file = member.name.partition("/")
            content = archive.extractfile(member)
            if content is not None:
                files.setdefault(name, {})[file] = content.read().decode()
    for name, both in files.items():
        rows = (line.split("\t", 1) for line in both["full.log.tsv"].split("\n") if "\t" in line)
        lines = tuple((float(at), text) for at, text in rows)
        yield TimedLog(name, lines, json.loads(both["truth.json"]))

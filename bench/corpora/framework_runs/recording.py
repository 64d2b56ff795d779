"""One recorded run: what it wrote when, and what is true of it."""

from __future__ import annotations

import json
import lzma
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from schedmate.model import Unit

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """`totals` are all right answers, in each unit in which the log may be counted."""

    name: str
    totals: dict[Unit, float]
    stated: bool
    """Whether the log states how much there is to do."""
    began_s: float
    """When the work began that the log counts, after imports and preparations."""
    ended_s: float
    exit_code: int
    script: str
    text: bytes
    pieces: tuple[tuple[float, int], ...]
    """When so many bytes of the text had been written."""

    def at(self, share: float) -> float:
        """The second after its start at which this share of the work's time had passed."""
        return self.began_s + share * (self.ended_s - self.began_s)

    def head(self, seconds: float) -> bytes:
        written = bisect_right(self.pieces, seconds, key=lambda piece: piece[0])
        return self.text[: self.pieces[written - 1][1]] if written else b""

    def last_write(self, seconds: float) -> float:
        written = bisect_right(self.pieces, seconds, key=lambda piece: piece[0])
        return self.pieces[written - 1][0] if written else 0.0


@cache
def recordings() -> tuple[Recording, ...]:
    return tuple(map(_read, sorted(HERE.glob("*.json.xz"))))


def _read(path: Path) -> Recording:
    kept = json.loads(lzma.decompress(path.read_bytes()))
    return Recording(
        name=kept["name"],
        totals=kept["totals"],
        stated=kept["stated"],
        began_s=kept["began_s"],
        ended_s=kept["ended_s"],
        exit_code=kept["exit_code"],
        script=kept["script"],
        text=kept["text"].encode(),
        pieces=tuple((at, size) for at, size in kept["pieces"]),
    )

"""What the lines of one log have said so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

from schedmate.model import Checkpoint, Phase
from schedmate.tracker.endings import Ending
from schedmate.tracker.formats import FORMATS, Sighting
from schedmate.tracker.lines import clean, thinned
from schedmate.tracker.table import SeriesTable

_READ_IN_FULL = 1 << 20
_MANY_LINES = 500
_MOST_METRICS = 64


class LogScan:
    """Fed with lines in order; `order` counts them, so that later facts beat earlier ones."""

    def __init__(self) -> None:
        self.table = SeriesTable()
        self.ending = Ending()
        self.metrics: dict[str, float] = {}
        self.checkpoint: Checkpoint | None = None
        self.epoch: float | None = None
        self.hint: Phase | None = None
        self.finished_at: int | None = None
        """The line that said in words that the training is over."""
        self.format: str | None = None
        self.order = 0
        self._rank = len(FORMATS)
        self._bytes = 0

    def feed(self, lines: Sequence[bytes], now: float | None) -> None:
        self._bytes += sum(map(len, lines))
        for line in thinned(lines) if self._may_thin(len(lines)) else lines:
            self._line(clean(line), now)

    def peek(self, line: bytes, now: float | None) -> None:
        """A bar whose line has not ended: believed only if it is closed, not half a number."""
        text = clean(line).strip()
        if text.endswith("]"):
            self._read(text, now)

    def _may_thin(self, lines: int) -> bool:
        """Where the epochs are counted by a bar's rounds, no round may be missed."""
        if self._bytes < _READ_IN_FULL or lines < _MANY_LINES:
            return False
        main = self.table.main()
        return main is None or not main.per_lap

    def _line(self, text: str, now: float | None) -> None:
        self.order += 1
        self.ending.see(text)
        self._read(text.strip(), now)

    def _read(self, text: str, now: float | None) -> None:
        for kind in FORMATS:
            sighting = kind.read(text)
            if sighting is not None:
                self._sighting(kind.name, sighting, now)
                return

    def _sighting(self, format_name: str, sighting: Sighting, now: float | None) -> None:
        if sighting.current is not None:
            self.ending.progressed()
            self.table.see(format_name, sighting, self.order, now)
            self._claim(format_name)
        self.hint = sighting.phase
        if sighting.phase == "finished":
            self.finished_at = self.order
        self.checkpoint = sighting.checkpoint or self.checkpoint
        self.epoch = self.epoch if sighting.epoch is None else sighting.epoch
        for name, value in sighting.metrics.items():
            self._metric(name, value)

    def _metric(self, name: str, value: float) -> None:
        """The newest value of each; one that is no number any more is not shown as the old one."""
        self.metrics.pop(name, None)
        if math.isfinite(value) and len(self.metrics) < _MOST_METRICS:
            self.metrics[name] = value

    def _claim(self, format_name: str) -> None:
        """The most specific format names the log: a Trainer draws tqdm's bars, too."""
        rank = _RANKS[format_name]
        if rank < self._rank:
            self._rank, self.format = rank, format_name


_RANKS = {kind.name: rank for rank, kind in enumerate(FORMATS)}

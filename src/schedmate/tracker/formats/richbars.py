"""rich.progress, which draws to a file only when configured to, and otherwise its last state."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.bars import labelled
from schedmate.tracker.formats.base import Sample, Sighting, counted

_MAX_LENGTH = 1000
_BAR = lazy_pattern(r"(?P<label>[^━╸╺]{0,200})[━╸╺]{5,300}(?: {1,4}|$)(?P<columns>.{0,300})")
_COUNT = lazy_pattern(r"(?<!\S) {0,12}(\d{1,12})/(\d{1,12})(?!\S)")
_PERCENT = lazy_pattern(r"(?<!\S)(\d{1,3})%(?!\S)")


class RichBars:
    name = "rich"
    hints = ("━━", "╸━", "━╸", "╺━")

    def read(self, line: str) -> Sighting | None:
        found = _BAR.fullmatch(line.strip()) if len(line) <= _MAX_LENGTH else None
        if found is None:
            return None
        label, columns = found["label"].strip(), found["columns"]
        count, percent = _COUNT.search(columns), _PERCENT.search(columns)
        done = None if count is None else counted(count[1], count[2])
        if done is not None:
            return labelled(label, *done)
        if count is not None or percent is None or int(percent[1]) > 100:  # noqa: PLR2004 - percent
            return None
        return replace(labelled(label, float(percent[1]), 100), unit="percent")

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of rich 15.0.0, really run
        Sample(
            "Working... ━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━━━━━━  45% 0:00:01",
            Sighting(unit="percent", current=45, total=100, series="Working..."),
        ),
        Sample(
            "Training ━━━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━━  55% 0:00:01 11/20",
            Sighting(unit="step", current=11, total=20, series="Training"),
        ),
        # composed after its columns
        Sample(
            "Epoch 2/5 loss: 0.31 ━━━━━━━╺━━━━ 120/500 24% 0:00:12",
            Sighting(
                unit="step",
                current=120,
                total=500,
                series="Epoch #/# loss: #",
                epoch=2,
                epochs=5,
                per_epoch=True,
                metrics={"loss": 0.31},
            ),
        ),
        Sample("━━━━━━━━━━━━━━━━━━━━", None),
        Sample("Working... ━━━━━━━━ 450% 0:00:01", None),
        Sample("Training ━━━━━━━━ 21/20 100%", None),
        Sample("a " * 400 + "━" * 200, None),
        Sample("\x00\ufffd ━━━━━━━━ 4", None),
    )

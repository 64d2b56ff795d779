"""alive-progress, which draws to a file only when configured to, and otherwise its last state."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.bars import labelled
from schedmate.tracker.formats.base import Sample, Sighting, clock_seconds, counted

_MAX_LENGTH = 1000
_BAR = lazy_pattern(
    r"(?P<label>[^|]{0,200})\|[^|]{1,200}\| [^\d|]{0,20}(?P<current>\d{1,12})/(?P<total>\d{1,12})"
    r" \[\d{1,3}%\] in (?P<time>[\d:.]{1,12})(?P<seconds>s?)"
    r" \((?:~[^,]{1,12}, )?(?P<rate>\d{1,9}(?:\.\d{1,3})?)/s\)"
)


class AliveProgress:
    name = "alive-progress"
    hints = ("%] in ",)

    def read(self, line: str) -> Sighting | None:
        found = _BAR.match(line.strip()) if len(line) <= _MAX_LENGTH else None
        count = None if found is None else counted(found["current"], found["total"])
        if found is None or count is None:
            return None
        rate = float(found["rate"])
        return replace(
            labelled(found["label"].strip(), *count),
            elapsed_s=_elapsed(found["time"], seconds=bool(found["seconds"])),
            rate_per_s=rate if rate > 0 else None,
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of alive-progress 3.3.0, really run
        Sample(
            "train |████████████████████████████████████████| 20/20 [100%] in 2.0s (9.97/s)",
            Sighting(
                unit="step", current=20, total=20, series="train", elapsed_s=2, rate_per_s=9.97
            ),
        ),
        Sample(
            "|██████████                    | ▇▇▅ 5/20 [25%] in 1s (~2s, 8.7/s)",
            Sighting(unit="step", current=5, total=20, elapsed_s=1, rate_per_s=8.7),
        ),
        # after its documented format
        Sample(
            "Epochs |████          | ▁▃▅ 3/30 [10%] in 1:05 (~9:45, 0.0/s)",
            Sighting(unit="epoch", current=3, total=30, series="Epochs", elapsed_s=65),
        ),
        Sample("train |███| 21/20 [100%] in 2.0s (9.97/s)", None),
        Sample("wrote 3/4 files [75%] in 2.0s (9.97/s)", None),
        Sample("|" + "█" * 900 + "| 1/2 [50%] in 1s (~1s, 1.0/s)", None),
        Sample("|\x00\ufffd| 1/2 [50%] in ", None),
    )


def _elapsed(printed: str, *, seconds: bool) -> float | None:
    if not seconds:
        return clock_seconds(printed)
    return float(printed) if re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", printed) else None

"""Dreamer's terminal line: the step in brackets, then names and values between slashes."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, metric_name

_MAX_LENGTH = 4096
_STEP = lazy_pattern(r"(?<!\S)\[(?:Step )?(\d{1,12})\] (?=[A-Za-z_])")
_VALUE = lazy_pattern(rf"([A-Za-z_][\w/.-]{{0,60}}) ({NUMBER})")
_MAX_VALUES = 64
_MIN_VALUES = 2


class Dreamer:
    name = "dreamer"
    hints = (" / ",)

    def read(self, line: str) -> Sighting | None:
        found = _STEP.search(line) if len(line) <= _MAX_LENGTH else None
        if found is None:
            return None
        parts = line[found.end() :].split(" / ", _MAX_VALUES)
        values = [_VALUE.fullmatch(part.strip()) for part in parts[:_MAX_VALUES]]
        metrics = {metric_name(one[1]): float(one[2]) for one in values if one is not None}
        if len(metrics) < _MIN_VALUES or None in values:
            return None
        return Sighting(unit="step", current=float(found[1]), series="[]", metrics=metrics)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "[19500] return 57.1 / length 500 / fps 3.1",
            Sighting(
                unit="step",
                current=19_500,
                series="[]",
                metrics={"return": 57.1, "length": 500.0, "fps": 3.1},
            ),
        ),
        Sample("[1234] worker 3 / 8", None),
        Sample("[19500] return 57.1", None),
        Sample("[pid] a 1 / b 2", None),
        Sample("[3] GET /a / b 200", None),
        Sample("[1] " + "a 1 / " * 600, None),
    )

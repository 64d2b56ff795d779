"""The speed that TensorFlow's estimators print; their steps and losses have a generic form."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting

_SPEED = lazy_pattern(r"(?<![\w/])global_step/sec: (\d{1,9}(?:\.\d{1,9})?)(?![\w.])")
_MAX_LENGTH = 500


class Estimator:
    name = "tf-estimator"
    hints = ("global_step/sec: ",)

    def read(self, line: str) -> Sighting | None:
        found = _SPEED.search(line[:_MAX_LENGTH])
        return None if found is None else Sighting(metrics={"steps_per_s": float(found[1])})

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample("INFO:tensorflow:global_step/sec: 46.3", Sighting(metrics={"steps_per_s": 46.3})),
        Sample("global_step/sec: fast", None),
        Sample("x" * 600 + " global_step/sec: 46.3", None),
    )

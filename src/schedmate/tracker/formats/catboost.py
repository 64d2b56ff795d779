"""CatBoost's lines: the round, counted from 0, its metrics, the time so far and to come."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting

_MAX_LENGTH = 4096
_SPAN = r"(?:\d{1,9}(?:\.\d{1,9})?(?:us|ms|s|m|h|d)(?: |$)){1,4}"
_LINE = lazy_pattern(
    r"(\d{1,9}):\t(?P<metrics>[^\n]{0,2000}?)\ttotal: (?P<total>[^\t]{1,40})"
    r"(?:\tremaining: (?P<remaining>[^\t]{1,40}))?"
)
_METRIC = lazy_pattern(rf"(learn|test\d{{0,4}}|best): ({NUMBER})(?: \(\d{{1,9}}\))?")
_PART = lazy_pattern(r"(\d{1,9}(?:\.\d{1,9})?)(us|ms|s|m|h|d)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_STOPPED = "Stopped by overfitting detector"


class CatBoost:
    name = "catboost"
    hints = ("\ttotal: ", "overfitting detector")

    def read(self, line: str) -> Sighting | None:
        if line.startswith(_STOPPED):
            return Sighting(phase="finished", ended_by="early_stop")
        found = _LINE.fullmatch(line) if len(line) <= _MAX_LENGTH else None
        elapsed = None if found is None else _span(found["total"])
        if found is None or elapsed is None:
            return None
        remaining = _span(found["remaining"] or "")
        pairs = (_METRIC.fullmatch(part) for part in found["metrics"].split("\t"))
        return Sighting(
            unit="step",
            current=float(found[1]) + 1,
            series="round",
            elapsed_s=elapsed,
            eta_s=remaining,
            metrics={pair[1]: float(pair[2]) for pair in pairs if pair is not None},
            phase="finished" if remaining == 0 else None,
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of catboost 1.2.10, really run
        Sample(
            "0:\tlearn: 1.0765630\ttotal: 171ms\tremaining: 17s",
            Sighting(
                unit="step",
                current=1,
                series="round",
                elapsed_s=0.171,
                eta_s=17,
                metrics={"learn": 1.076563},
            ),
        ),
        Sample(
            "85:\tlearn: 1.0054284\ttotal: 10.5s\tremaining: 1.71s",
            Sighting(
                unit="step",
                current=86,
                series="round",
                elapsed_s=10.5,
                eta_s=1.71,
                metrics={"learn": 1.0054284},
            ),
        ),
        Sample(
            "99:\tlearn: 0.6904500\ttotal: 89.5ms\tremaining: 0us",
            Sighting(
                unit="step",
                current=100,
                series="round",
                elapsed_s=0.0895,
                eta_s=0,
                metrics={"learn": 0.69045},
                phase="finished",
            ),
        ),
        # after the documented format
        Sample(
            "500:\tlearn: 0.31\ttest: 0.35\tbest: 0.34 (480)\ttotal: 1h 2m 3s\tremaining: 1m 5s",
            Sighting(
                unit="step",
                current=501,
                series="round",
                elapsed_s=3723,
                eta_s=65,
                metrics={"learn": 0.31, "test": 0.35, "best": 0.34},
            ),
        ),
        Sample(
            "Stopped by overfitting detector  (10 iterations wait)",
            Sighting(phase="finished", ended_by="early_stop"),
        ),
        Sample("bestTest = 0.3415", None),
        Sample("3:\tlearn: 0.5\ttotal: soon", None),
        Sample(
            "3:\tlearn: 0.5\ttotal: 15m",
            Sighting(unit="step", current=4, series="round", elapsed_s=900, metrics={"learn": 0.5}),
        ),
        Sample("1:\t" + "learn: 1\t" * 10_000 + "total: 1s", None),
        Sample("1:\t\x00\ufffd\ttotal: ", None),
    )


def _span(text: str) -> float | None:
    """`1h 2m 3s`, `46.7ms` or `0us` as seconds."""
    if not re.fullmatch(_SPAN, text):
        return None
    return sum(float(value) * _SECONDS[unit] for value, unit in _PART.findall(text))

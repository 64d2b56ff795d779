"""What darknet prints after every batch; the fork that most people use adds the time left."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, rate_of

_LINE = lazy_pattern(
    rf"(?<!\S)(\d{{1,12}}): ({NUMBER}), ({NUMBER}) avg(?: loss)?, ({NUMBER}) rate, "
    r"(\d{1,9}\.\d{1,9}) seconds, \d{1,15} images(?:, (\d{1,9}\.\d{1,9}) hours left)?"
)
_MAX_LENGTH = 500
_HOUR_S = 3600.0


class Darknet:
    name = "darknet"
    hints = (" images",)

    def read(self, line: str) -> Sighting | None:
        found = _LINE.search(line[:_MAX_LENGTH])
        if found is None:
            return None
        step, loss, average, rate, seconds, hours = found.groups()
        return Sighting(
            unit="step",
            current=float(step),
            series="batch",
            rate_per_s=rate_of(float(seconds)),
            eta_s=float(hours) * _HOUR_S if hours else None,
            metrics={"loss": float(loss), "avg_loss": float(average), "lr": float(rate)},
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "59: 0.120000, 0.130000 avg loss, 0.001000 rate, 0.500000 seconds, 3776 images, "
            "6.000000 hours left",
            Sighting(
                unit="step",
                current=59,
                series="batch",
                rate_per_s=2,
                eta_s=21_600,
                metrics={"loss": 0.12, "avg_loss": 0.13, "lr": 0.001},
            ),
        ),
        Sample(
            "1: 812.5, 812.5 avg, 0.000000 rate, 4.000000 seconds, 64 images",
            Sighting(
                unit="step",
                current=1,
                series="batch",
                rate_per_s=0.25,
                metrics={"loss": 812.5, "avg_loss": 812.5, "lr": 0.0},
            ),
        ),
        Sample("Loaded: 0.000036 seconds", None),
        Sample("59: 3776 images", None),
        Sample("9" * 5000 + ": 0.1, 0.1 avg, images", None),
    )

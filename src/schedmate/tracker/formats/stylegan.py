"""The ticks of NVIDIA's StyleGAN family, which count thousands of images."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import MAX_COUNT, Sample, Sighting, rate_of
from schedmate.tracker.formats.quantities import seconds_of

_TICK = lazy_pattern(
    r"(?<!\S)tick \d{1,9} {1,12}kimg (\d{1,12}(?:\.\d{1,3})?) .{0,80}?"
    r"\btime ((?:\d{1,6}[dhms] ?){1,4})"
)
_EACH = lazy_pattern(r"sec/kimg (\d{1,9}(?:\.\d{1,4})?)(?![\w.])")
_MAX_LENGTH = 1000
_KILO = 1000.0


class StyleGan:
    name = "stylegan"
    hints = ("kimg ",)

    def read(self, line: str) -> Sighting | None:
        found = _TICK.search(line[:_MAX_LENGTH])
        if found is None or float(found[1]) * _KILO >= MAX_COUNT:
            return None
        each = _EACH.search(line, found.end(), found.end() + 200)
        return Sighting(
            unit="sample",
            current=float(found[1]) * _KILO,
            series="kimg",
            elapsed_s=seconds_of(found[2]),
            rate_per_s=rate_of(float(each[1]) / _KILO) if each else None,
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "tick 29    kimg 116.0    lod 0.00  minibatch 32   time 29m 10s      sec/tick 60.3    "
            "sec/kimg 12.50   maintenance 0.0    gpumem 5.0",
            Sighting(unit="sample", current=116_000, series="kimg", elapsed_s=1750, rate_per_s=80),
        ),
        Sample(
            "tick 0     kimg 0.0      time 12s          sec/tick 1.9     sec/kimg 0",
            Sighting(unit="sample", current=0, series="kimg", elapsed_s=12),
        ),
        Sample("tick 3 of 5, kimg unknown", None),
        Sample("total kimg 25000", None),
        Sample("tick 1 kimg 1.0 " + "time " * 2000, None),
    )

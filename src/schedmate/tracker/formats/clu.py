"""JAX loops with Common Loop Utils: metric writers and reports of progress."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import (
    Sample,
    Sighting,
    counted,
    metrics_in,
    rate_of,
)
from schedmate.tracker.formats.quantities import DURATION, seconds_of

_MAX_LENGTH = 2048
_NOTES = "Setting work unit notes: "
_RATE = r"(\d{1,9}(?:\.\d{1,3})?) steps/s"
_REPORT = lazy_pattern(
    rf"{_NOTES}{_RATE}, \d{{1,3}}(?:\.\d)?% \((\d{{1,12}})/(\d{{1,12}})\)"
    rf"(?:, ETA: ({DURATION}))?"
)
_EARLIER = lazy_pattern(
    rf"{_NOTES}(?:\d{{1,3}}(?:\.\d)?)% @(\d{{1,12}}), {_RATE}(?:, ETA: ({DURATION}))?"
)
_WRITTEN = lazy_pattern(
    r"(?:logging_writer\.py:\d{1,5}\] |^)\[(\d{1,12})\] (?:collection=\w{1,30} )?"
    r"((?:[A-Za-z_][\w./@-]{0,80}=[\w.+/-]{1,60}(?:,? |$)){1,60})$"
)


class Clu:
    name = "clu"
    hints = ("setting work unit notes", "] ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if _NOTES in text:
            return _reported(text)
        found = _WRITTEN.search(text) if "] " in text and "=" in text else None
        metrics = metrics_in(found[2]) if found else {}
        if found is None or not metrics:
            return None
        rate = metrics.pop("steps_per_sec", None) or None
        return Sighting(
            unit="step",
            current=float(found[1]),
            series="[]",
            elapsed_s=_time(metrics.pop("uptime", None)),
            rate_per_s=rate_of(1 / rate) if rate else None,
            metrics=metrics,
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "I0101 12:00:00.000000 1402 logging_writer.py:48] [120] loss=0.12, steps_per_sec=3.2",
            Sighting(unit="step", current=120, series="[]", rate_per_s=3.2, metrics={"loss": 0.12}),
        ),
        Sample(
            "I0101 12:00:00.000000 1402 logging_writer.py:48] [120] uptime=144.5",
            Sighting(unit="step", current=120, series="[]", elapsed_s=144.5),
        ),
        Sample(
            "[200] collection=train accuracy=0.91, loss=0.3",
            Sighting(
                unit="step", current=200, series="[]", metrics={"accuracy": 0.91, "loss": 0.3}
            ),
        ),
        Sample(
            "INFO:absl:Setting work unit notes: 12.3 steps/s, 45.0% (450/1000), ETA: 1m",
            Sighting(
                unit="step", current=450, total=1000, series="notes", rate_per_s=12.3, eta_s=60
            ),
        ),
        Sample(
            "I0101 12:00:00 14 local.py:41] Setting work unit notes: 0.0 steps/s, 0.0% (1/500000), "
            "ETA: 1d2h3m (2m : 4.3% data, 95.2% train_step)",
            Sighting(unit="step", current=1, total=500_000, series="notes", eta_s=93_780),
        ),
        Sample(
            "Setting work unit notes: 40.0% @4, 8.3 steps/s, ETA: 5 min",
            Sighting(unit="step", current=4, series="notes", rate_per_s=8.3, eta_s=300),
        ),
        Sample("Setting work unit notes: hello", None),
        Sample("[120] loss: 0.12", None),
        Sample("[3] done", None),
        Sample("[rank0] x=1", None),
        Sample("[1] " + "a=1, " * 20_000, None),
    )


def _reported(text: str) -> Sighting | None:
    found = _REPORT.search(text)
    if found is not None:
        counts = counted(found[2], found[3])
        return None if counts is None else _report(counts[0], counts[1], found[1], found[4])
    found = _EARLIER.search(text)
    return None if found is None else _report(float(found[1]), None, found[2], found[3])


def _report(current: float, total: float | None, rate: str, eta: str | None) -> Sighting:
    return Sighting(
        unit="step",
        current=current,
        total=total,
        series="notes",
        rate_per_s=float(rate) or None,
        eta_s=seconds_of(eta) if eta else None,
    )


def _time(seconds: float | None) -> float | None:
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None

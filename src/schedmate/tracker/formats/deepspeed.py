"""DeepSpeed's own lines: the engine's steps, its pipeline's steps and its throughput timer."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, rate_of

_MAX_LENGTH = 2048
_ENGINE = lazy_pattern(
    r"\[Rank \d{1,6}\] step=(\d{1,12}), skipped=\d{1,12}, lr=\[([^\],]{0,40})[^\]]{0,400}\], mom="
)
_PIPELINE = lazy_pattern(
    rf"(?:^|\s)steps: (\d{{1,12}}) loss: ({NUMBER}) iter time \(s\): ({NUMBER})"
    rf" samples/sec: ({NUMBER})"
)
_TIMER = lazy_pattern(
    r"(?:(?:^|\s)\d{1,9}/(\d{1,12})|epoch=\d{1,9}/micro_step=\d{1,12}/global_step=(\d{1,12})),"
    rf" (?:RunningAvg)?SamplesPerSec=({NUMBER})(?:, CurrSamplesPerSec=({NUMBER}))?"
)
_NUMBER = lazy_pattern(NUMBER)


class DeepSpeed:
    name = "deepspeed"
    hints = ("mom=[", "samples/sec: ", "samplespersec=")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if "mom=[" in text:
            return _engine(text)
        if "samples/sec: " in text:
            return _pipeline(text)
        return _timer(text) if "SamplesPerSec=" in text else None

    samples: ClassVar[tuple[Sample, ...]] = (
        # shapes of public Slurm outputs, other numbers
        Sample(
            "[2021-06-01 12:00:00,000] [INFO] [logging.py:60:log_dist] [Rank 0] step=10,"
            " skipped=2, lr=[1.875e-05, 1.875e-05], mom=[(0.9, 0.999), (0.9, 0.999)]",
            Sighting(unit="step", current=10, series="step", metrics={"learning_rate": 1.875e-05}),
        ),
        Sample(
            "steps: 12 loss: 6.1280 iter time (s): 0.500 samples/sec: 123.4",
            Sighting(
                unit="step",
                current=12,
                series="step",
                rate_per_s=2,
                metrics={"loss": 6.128, "samples_per_s": 123.4},
            ),
        ),
        # after the format strings of its timer, older and newer
        Sample(
            "[2022-06-01 12:00:00,000] [INFO] [timer.py:157:stop] 0/100,"
            " RunningAvgSamplesPerSec=51.25, CurrSamplesPerSec=52.5, MemAllocated=3.1GB",
            Sighting(
                unit="step", current=100, series="micro_step", metrics={"samples_per_s": 52.5}
            ),
        ),
        Sample(
            "[2023-06-01 12:00:00,000] [INFO] [timer.py:215:stop] epoch=0/micro_step=400/"
            "global_step=100, RunningAvgSamplesPerSec=51.25, CurrSamplesPerSec=inf,",
            Sighting(
                unit="step",
                current=100,
                series="step",
                metrics={"samples_per_s": float("inf")},
            ),
        ),
        Sample(
            "[2020-06-01 12:00:00,000] [INFO] [timer.py:109:stop] 0/30, SamplesPerSec=20.5",
            Sighting(unit="step", current=30, series="micro_step", metrics={"samples_per_s": 20.5}),
        ),
        Sample("[INFO] [engine.py:99:init] optimizer step=1, mom=[0.9]", None),
        Sample("samples/sec: 12", None),
        Sample("2/x, SamplesPerSec=3", None),
        Sample("[Rank 0] step=1, skipped=0, lr=[" + "[" * 60_000 + "mom=[", None),
    )


def _engine(text: str) -> Sighting | None:
    found = _ENGINE.search(text)
    if found is None:
        return None
    rate = found[2].strip()
    return Sighting(
        unit="step",
        current=float(found[1]),
        series="step",
        metrics={"learning_rate": float(rate)} if _NUMBER.fullmatch(rate) else {},
    )


def _pipeline(text: str) -> Sighting | None:
    found = _PIPELINE.search(text)
    if found is None:
        return None
    return Sighting(
        unit="step",
        current=float(found[1]),
        series="step",
        rate_per_s=rate_of(float(found[3])),
        metrics={"loss": float(found[2]), "samples_per_s": float(found[4])},
    )


def _timer(text: str) -> Sighting | None:
    found = _TIMER.search(text)
    if found is None:
        return None
    return Sighting(
        unit="step",
        current=float(found[2] or found[1]),
        series="step" if found[2] else "micro_step",
        metrics={"samples_per_s": float(found[4] or found[3])},
    )

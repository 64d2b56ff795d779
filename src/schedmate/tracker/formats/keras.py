"""Keras' bars and its line an epoch. Both count the steps of one epoch; a headline names it."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import MAX_COUNT, Sample, Sighting, metrics_in

_MAX_LENGTH = 4096
_COUNT = r"\s{0,20}(\d{1,12})/(\d{1,12}|Unknown|None)"
_TIME = r"(?:ETA: )?(?P<time>(?:\d{1,6}:){0,2}\d{1,9}(?:us|ms|s)?)"
_EACH = r"(?P<each>\d{1,9})(?P<scale>us|ms|s)/(?P<per>step|epoch|sample)"
_LINE = lazy_pattern(
    rf"{_COUNT}"
    r"(?: (?:[━╸╺]{1,60}|\[[=>.]{1,60}\]))?"
    rf"(?: -)? {_TIME}(?:(?: -)? {_EACH})?(?P<metrics>(?: - .{{0,3000}})?)"
)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class Keras:
    name = "keras"
    hints = ("/step", " - eta: ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH].rstrip("\b ")
        found = _LINE.fullmatch(text)
        if found is None or not (found["each"] or "ETA: " in text):
            return None
        return _sighting(found)

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of keras 3.15.1 on torch, really run
        Sample(
            " 1/16 ━━━━━━━━━━━━━━━━━━━━ 2s 134ms/step - loss: 4.2698 - mae: 1.7488\b\b\b\b",
            Sighting(
                unit="step",
                current=1,
                total=16,
                series="epoch",
                per_epoch=True,
                rate_per_s=1 / 0.134,
                metrics={"loss": 4.2698, "mae": 1.7488},
            ),
        ),
        Sample(
            "16/16 ━━━━━━━━━━━━━━━━━━━━ 2s 137ms/step - loss: 2.6932 - val_loss: 3.3292",
            Sighting(
                unit="step",
                current=16,
                total=16,
                series="epoch",
                per_epoch=True,
                rate_per_s=1 / 0.137,
                metrics={"loss": 2.6932, "val_loss": 3.3292},
            ),
        ),
        Sample(
            "16/16 - 2s - 127ms/step - loss: 1.4840 - mae: 0.9926 - val_loss: 3.4491",
            Sighting(
                unit="step",
                current=16,
                total=16,
                series="epoch",
                per_epoch=True,
                rate_per_s=1 / 0.127,
                metrics={"loss": 1.4840, "mae": 0.9926, "val_loss": 3.4491},
            ),
        ),
        # after the documented format: a dataset of unknown length, Keras before 3
        Sample(
            "    31/Unknown 4s 121ms/step - loss: 0.6931",
            Sighting(
                unit="step",
                current=31,
                series="epoch",
                per_epoch=True,
                rate_per_s=1 / 0.121,
                metrics={"loss": 0.6931},
            ),
        ),
        Sample(
            " 320/1875 [====>.........................] - ETA: 1:05 - loss: 0.51 - accuracy: 0.85",
            Sighting(
                unit="step",
                current=320,
                total=1875,
                series="epoch",
                per_epoch=True,
                metrics={"loss": 0.51, "accuracy": 0.85},
            ),
        ),
        Sample(
            "1875/1875 [==============================] - 4s 2ms/step - loss: 0.2944",
            Sighting(
                unit="step",
                current=1875,
                total=1875,
                series="epoch",
                per_epoch=True,
                rate_per_s=1 / 0.002,
                metrics={"loss": 0.2944},
            ),
        ),
        Sample("17/16 - 2s - 127ms/step - loss: 1.4840", None),
        Sample("16/16 - 2s", None),
        Sample("3/4 of 2s are 1500ms/step", None),
        Sample("1/2 " + "━" * 60_000 + " 2s 1ms/step", None),
        Sample("1/2 ━\x00\ufffd 2s 1ms/step", None),
    )


def _sighting(found: re.Match[str]) -> Sighting | None:
    current = float(found[1])
    total = float(found[2]) if found[2].isdecimal() else None
    if total is not None and not max(current, 1) <= total <= MAX_COUNT:
        return None
    return Sighting(
        unit="step",
        current=current,
        total=total,
        series="epoch",
        per_epoch=True,
        rate_per_s=_rate(found),
        metrics=metrics_in(found["metrics"]),
    )


def _rate(found: re.Match[str]) -> float | None:
    """Where `0ms/step` is printed the steps are too quick for it to say anything."""
    if found["per"] != "step" or float(found["each"]) == 0:
        return None
    return 1 / (float(found["each"]) * _SECONDS[found["scale"]])

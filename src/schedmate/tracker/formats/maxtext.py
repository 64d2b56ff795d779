"""MaxText's step lines."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting, metrics_in, rate_of

_MAX_LENGTH = 2048
_STEP = lazy_pattern(
    r"completed step: (\d{1,12}), seconds: (\d{1,9}(?:\.\d{1,6})?)(?=,|$)", re.IGNORECASE
)
_EVALUATED = lazy_pattern(r"Completed eval after train step (\d{1,12}), ")
_NAMES = {"tflop/s/device": "tflops_per_device", "tokens/s/device": "tokens_per_s_per_device"}
_NO_METRICS = frozenset({"step", "seconds", "weights"})


class MaxText:
    name = "maxtext"
    hints = ("completed step: ", "completed eval after train step")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        evaluated = _EVALUATED.search(text)
        if evaluated is not None:
            values = metrics_in(text[evaluated.end() :], without=_NO_METRICS)
            return Sighting(metrics={f"eval_{name}": value for name, value in values.items()})
        found = _STEP.search(text)
        if found is None:
            return None
        values = metrics_in(text[found.end() :], without=_NO_METRICS)
        return Sighting(
            unit="step",
            current=float(found[1]),
            series="step",
            rate_per_s=rate_of(float(found[2])),
            metrics={_NAMES.get(name, name): value for name, value in values.items()},
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "completed step: 10, seconds: 1.250, TFLOP/s/device: 123.400, "
            "Tokens/s/device: 3322.100, total_weights: 65536, loss: 8.900",
            Sighting(
                unit="step",
                current=10,
                series="step",
                rate_per_s=0.8,
                metrics={
                    "tflops_per_device": 123.4,
                    "tokens_per_s_per_device": 3322.1,
                    "loss": 8.9,
                },
            ),
        ),
        Sample(
            "I0101 12:00:00.000000 14 max_logging.py:20] completed step: 3, seconds: 0.500, "
            "loss: 2.100",
            Sighting(unit="step", current=3, series="step", rate_per_s=2, metrics={"loss": 2.1}),
        ),
        Sample(
            "Completed eval after train step 100, loss=2.500, perplexity=12.100, "
            "total_weights=5000.0",
            Sighting(metrics={"eval_loss": 2.5, "eval_perplexity": 12.1}),
        ),
        Sample("completed step: 10", None),
        Sample("completed step: ten, seconds: 1", None),
        Sample("completed step: " * 9000, None),
    )

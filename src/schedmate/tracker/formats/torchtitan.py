"""torchtitan's step lines and what it says before the first one."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting

_MAX_LENGTH = 2048
_STEP = lazy_pattern(r"(?<!\w)(validate )?step: {1,6}(\d{1,12}) {2,4}(?:loss|grad_norm|memory): ")
_VALUE = lazy_pattern(
    rf"(?<!\w)(loss|grad_norm|memory|tps|tflops|mfu): {{1,8}}([\d,]{{1,15}}\.?\d{{0,9}}|{NUMBER})"
)
_NAMES = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "memory": "memory_gib",
    "tps": "tokens_per_s_per_device",
    "tflops": "tflops_per_device",
    "mfu": "mfu",
}
_TOTAL = lazy_pattern(r"batch size \d{1,9}, .{0,200}\btotal steps (\d{1,12})(?: \(warmup|\b)")


class TorchTitan:
    name = "torchtitan"
    hints = ("tps:", "total steps")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if "tps:" in text:
            return _step(text)
        found = _TOTAL.search(text) if "total steps" in text else None
        total = float(found[1]) if found else 0.0
        return Sighting(unit="step", total=total) if total else None

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "[titan] 2025-01-01 12:00:00,000 - root - INFO - step: 10  loss:  7.1234  "
            "grad_norm:  1.2000  memory:  3.10GiB(4.02%)  tps: 12,345  tflops: 1,050.1  mfu: 12.3%",
            Sighting(
                unit="step",
                current=10,
                series="step",
                metrics={
                    "loss": 7.1234,
                    "grad_norm": 1.2,
                    "memory_gib": 3.1,
                    "tokens_per_s_per_device": 12345.0,
                    "tflops_per_device": 1050.1,
                    "mfu": 12.3,
                },
            ),
        ),
        Sample(
            "step:  1  loss:      nan  memory: 40.12GiB(50.00%)  tps: 900  tflops: 5.10  mfu: N/A",
            Sighting(
                unit="step",
                current=1,
                series="step",
                metrics={
                    "loss": float("nan"),
                    "memory_gib": 40.12,
                    "tokens_per_s_per_device": 900.0,
                    "tflops_per_device": 5.1,
                },
            ),
        ),
        Sample(
            "validate step: 100  loss:  3.1000  memory: 40.12GiB(50.00%)  tps: 9,000",
            Sighting(metrics={"validation_loss": 3.1}),
        ),
        Sample(
            "Training starts at step 1, with local batch size 8, global batch size 64, "
            "sequence length 2048, total steps 1000 (warmup 200)",
            Sighting(unit="step", total=1000),
        ),
        Sample("step: 10  loss: 7.1", None),
        Sample("tps: 12,345", None),
        Sample("total steps are many", None),
        Sample("step: " + " " * 9000 + "tps:", None),
    )


def _step(text: str) -> Sighting | None:
    found = _STEP.search(text)
    if found is None:
        return None
    metrics = _metrics(text)
    if found[1]:
        loss = metrics.get("loss")
        return None if loss is None else Sighting(metrics={"validation_loss": loss})
    return Sighting(unit="step", current=float(found[2]), series="step", metrics=metrics)


def _metrics(text: str) -> dict[str, float]:
    values = {}
    for name, printed in _VALUE.findall(text):
        values[_NAMES[name]] = float(printed.replace(",", "") or "nan")
    return values

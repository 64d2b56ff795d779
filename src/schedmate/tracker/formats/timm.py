"""timm's script and those after it: `Train: 3 [ 100/1251 (  8%)]  Loss: 6.9 (6.9)  Time: ...`."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import (
    MAX_COUNT,
    NUMBER,
    Sample,
    Sighting,
    clock_seconds,
    counted,
    metrics_in,
    rate_of,
)

_MAX_LENGTH = 2048
_TRAIN = lazy_pattern(
    r"\bTrain: {1,8}(\d{1,9})(?:/(\d{1,9}) \( {0,4}\d{1,3}%\))? "
    r"\[\s{0,12}(\d{1,12})/(\d{1,12})\s{1,4}\(\s{0,4}\d{1,3}%\)\]\s{1,4}"
)
_TEST = lazy_pattern(
    rf"\bTest(?: ?\([\w ]{{1,20}}\))?: \[\s{{0,12}}(\d{{1,12}})/(\d{{1,12}})\]\s{{1,4}}"
    rf"Time: ({NUMBER}) \("
)
_TIME = lazy_pattern(rf"\bTime: ({NUMBER})s,\s{{1,8}}({NUMBER})/s")
_CLOCK = r"\d{1,6}(?::\d{2}){1,2}"
_COST = lazy_pattern(rf"\bTime cost: {_CLOCK}/{_CLOCK} \[({_CLOCK})/({_CLOCK})\]")
_SCHEDULED = lazy_pattern(r"\bScheduled epochs: (\d{1,9})\b")
_BEST = lazy_pattern(rf"\*\*\* Best metric: ({NUMBER}) \(epoch \d{{1,9}}\)")
_NO_METRICS = frozenset({"time", "data"})


class Timm:
    name = "timm"
    hints = ("train: ", "test: [", "test (", "scheduled epochs: ", "*** best metric: ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        return _trained(text) or _tested(text) or _sentence(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        # after its format strings, older and newer
        Sample(
            "Train: 3 [ 100/1251 (  8%)]  Loss: 6.875 (6.91)  Time: 0.250s, 4096.00/s"
            "  (0.300s, 3413.33/s)  LR: 1.000e-04  Data: 0.010 (0.020)",
            Sighting(
                unit="step",
                current=100,
                total=1251,
                series="train",
                epoch=3,
                per_epoch=True,
                rate_per_s=4,
                metrics={"samples_per_s": 4096.0, "loss": 6.875, "lr": 1e-04},
            ),
        ),
        Sample(
            "INFO: Train: 0 [   0/1251 (  0%)]  Loss:  6.93 ( 6.93)  Time: 8.000s,  128.00/s"
            "  (8.000s,  128.00/s)  LR: 1.000e-06  Data: 2.345 (2.345)",
            Sighting(
                unit="step",
                current=0,
                total=1251,
                series="train",
                epoch=0,
                per_epoch=True,
                rate_per_s=0.125,
                metrics={"samples_per_s": 128.0, "loss": 6.93, "lr": 1e-06},
            ),
        ),
        # after OpenPCDet
        Sample(
            "2023-01-05 16:34:49,377   INFO  Train:    1/3 ( 33%) [  49/323 ( 15%)]  Loss: 36.75"
            " (81.7)  LR: 1.351e-04  Time cost: 00:15/01:25 [00:16/04:48]  Acc_iter 50",
            Sighting(
                unit="step",
                current=49,
                total=323,
                series="train",
                epoch=1,
                epochs=3,
                per_epoch=True,
                elapsed_s=16,
                eta_s=288,
                metrics={"loss": 36.75, "lr": 1.351e-04},
            ),
        ),
        Sample(
            "Test: [  10/48]  Time: 0.125 (0.2)  Loss:  0.7500 (0.8)  Acc@1: 81.2500 (80.1)"
            "  Acc@5: 95.5 (95.1)",
            Sighting(
                unit="step",
                current=10,
                total=48,
                series="test",
                rate_per_s=8,
                metrics={"test_loss": 0.75, "test_acc@1": 81.25, "test_acc@5": 95.5},
                phase="evaluating",
            ),
        ),
        Sample(
            "Test (EMA): [  10/48]  Time: 0.125 (0.2)  Loss:  0.7500 (0.8)",
            Sighting(
                unit="step",
                current=10,
                total=48,
                series="test",
                rate_per_s=8,
                metrics={"test_loss": 0.75},
                phase="evaluating",
            ),
        ),
        Sample("Scheduled epochs: 310. LR stepped per epoch.", Sighting(unit="epoch", total=310)),
        Sample(
            "*** Best metric: 77.125 (epoch 88)",
            Sighting(phase="finished", metrics={"best_metric": 77.125}),
        ),
        Sample("Train: 3 [ 1252/1251 (100%)]  Loss: 6.9 (6.9)  Time: 0.250s, 4096.00/s", None),
        Sample("Train: 3 files", None),
        Sample("Test: [ 10/196]\tTime  0.500 ( 0.345)", None),
        Sample("Scheduled epochs: 0", None),
        Sample("Train: " * 10_000, None),
    )


def _trained(text: str) -> Sighting | None:
    found = _TRAIN.search(text)
    count = None if found is None else counted(found[3], found[4])
    if found is None or count is None:
        return None
    seen = Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="train",
        epoch=float(found[1]),
        epochs=float(found[2]) if found[2] else None,
        per_epoch=True,
        metrics=_metrics(text[found.end() :]),
    )
    return _timed(seen, text[found.end() :])


def _timed(seen: Sighting, text: str) -> Sighting | None:
    """The time of a step, or OpenPCDet's of the epoch and, in brackets, of the run."""
    step, cost = _TIME.search(text), _COST.search(text)
    if step is not None:
        metrics = {"samples_per_s": float(step[2])} | dict(seen.metrics)
        return replace(seen, rate_per_s=rate_of(float(step[1])), metrics=metrics)
    if cost is None:
        return None
    return replace(seen, elapsed_s=clock_seconds(cost[1]), eta_s=clock_seconds(cost[2]))


def _tested(text: str) -> Sighting | None:
    found = _TEST.search(text)
    count = None if found is None else counted(found[1], found[2])
    if found is None or count is None:
        return None
    metrics = _metrics(text[found.end() :])
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="test",
        rate_per_s=rate_of(float(found[3])),
        metrics={f"test_{name}": value for name, value in metrics.items()},
        phase="evaluating",
    )


def _metrics(text: str) -> dict[str, float]:
    """Columns are padded with more blanks than people write after a colon."""
    return metrics_in(_PADDING.sub(": ", text), without=_NO_METRICS)


_PADDING = lazy_pattern(r": {2,8}")


def _sentence(text: str) -> Sighting | None:
    scheduled, best = _SCHEDULED.search(text), _BEST.search(text)
    if scheduled is not None:
        total = float(scheduled[1])
        return Sighting(unit="epoch", total=total) if 0 < total < MAX_COUNT else None
    if best is None:
        return None
    return Sighting(phase="finished", metrics={"best_metric": float(best[1])})

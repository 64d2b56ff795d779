"""PyTorch's own examples: torchvision's MetricLogger (DETR, MAE, DINO, too) and ImageNet's."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import (
    NUMBER,
    SPAN,
    Sample,
    Sighting,
    counted,
    metrics_in,
    rate_of,
    span_seconds,
)

_MAX_LENGTH = 4096
_HEAD = (
    r"(?:(?P<test>Test|Val(?:idation)?):[\w ()]{0,20}"
    r"|Epoch: \[(?P<epoch>\d{1,9})(?:/(?P<epochs>\d{1,9}))?\])"
    r"\s{0,4}\[\s{0,12}(?P<current>\d{1,12})/(?P<total>\d{1,12})\]"
)
_LOGGER = lazy_pattern(_HEAD + rf"\s{{1,4}}eta: {SPAN}\s")
_IMAGENET = lazy_pattern(_HEAD + r"\tTime {1,8}(?=\d)")
_TIME = lazy_pattern(rf"\btime: ({NUMBER})")
_METER = lazy_pattern(
    rf"([A-Za-z][\w@]{{0,20}}) {{1,8}}({NUMBER}) \( {{0,8}}(?:{NUMBER})\)(?=\t|\s|$)"
)
_EPOCH = lazy_pattern(
    rf"Epoch: \[(\d{{1,9}})(?:/(\d{{1,9}}))?\] Total time: {SPAN} \([\d.]{{1,20}} s / it\)"
)
_DONE = lazy_pattern(rf"Training time ({SPAN})")
_NAMES = {"img/s": "samples_per_s", "clips/s": "samples_per_s"}
_NO_METRICS = frozenset({"time", "data", "mem", "eta"})


class TorchVision:
    name = "torchvision"
    hints = ("epoch: [", "test:", "val:", "validation:", "training time ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if "eta: " in text:
            return _logged(text)
        if "\tTime " in text:
            return _imagenet(text)
        return _sentence(text.strip())

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "Epoch: [0]  [2340/4572]  eta: 0:00:44  lr: 0.005  loss: 1.25 (1.50)  img/s: 1600.5"
            "  time: 0.0200  data: 0.0176  max mem: 13772",
            Sighting(
                unit="step",
                current=2340,
                total=4572,
                series="epoch",
                epoch=0,
                per_epoch=True,
                rate_per_s=50,
                metrics={"lr": 0.005, "loss": 1.25, "samples_per_s": 1600.5},
            ),
        ),
        Sample(
            "Epoch: [3/100]  [  10/1251]  eta: 1 day, 2:03:04  loss: 9.5 (9.5)  time: 0.5  data:"
            " 0.01",
            Sighting(
                unit="step",
                current=10,
                total=1251,
                series="epoch",
                epoch=3,
                epochs=100,
                per_epoch=True,
                rate_per_s=2,
                metrics={"loss": 9.5},
            ),
        ),
        Sample(
            "Test:  [ 10/500]  eta: 0:01:40  model_time: 0.05 (0.06)  time: 0.2000  data: 0.01",
            Sighting(
                unit="step",
                current=10,
                total=500,
                series="test",
                rate_per_s=5,
                phase="evaluating",
            ),
        ),
        Sample(
            "Epoch: [2] Total time: 0:01:20 (0.1000 s / it)",
            Sighting(unit="epoch", current=2, series="epochs", ordinal="ended", epoch=2),
        ),
        Sample("Training time 1:02:03", Sighting(phase="finished", elapsed_s=3723)),
        # after the ImageNet example, newer and older
        Sample(
            "Epoch: [4][  10/5005]\tTime  0.250 ( 0.345)\tData  0.001 ( 0.002)\tLoss 6.5e+00"
            " (7.0e+00)\tAcc@1   0.50 (  0.10)\tAcc@5   1.50 (  0.60)",
            Sighting(
                unit="step",
                current=10,
                total=5005,
                series="epoch",
                epoch=4,
                per_epoch=True,
                rate_per_s=4,
                metrics={"loss": 6.5, "acc@1": 0.5, "acc@5": 1.5},
            ),
        ),
        Sample(
            "Test: [ 10/196]\tTime  0.500 ( 0.345)\tLoss 6.5e+00 (7.0e+00)\tAcc@1   0.50 (  0.10)",
            Sighting(
                unit="step",
                current=10,
                total=196,
                series="test",
                rate_per_s=2,
                metrics={"test_loss": 6.5, "test_acc@1": 0.5},
                phase="evaluating",
            ),
        ),
        Sample("Epoch: [0]  [4573/4572]  eta: 0:00:44  time: 0.02", None),
        Sample("Test: Total time: 0:00:10", None),
        Sample("Training time is money", None),
        Sample("Test: [ 10/196]", None),
        Sample("eta: " + "Test " * 10_000, None),
        Sample("eta: " + "Epoch: [1][ 1/2]\tTime " * 1000, None),
    )


def _logged(text: str) -> Sighting | None:
    """The eta of these lines is that of the epoch, not of the run."""
    found = _LOGGER.search(text)
    rest = "" if found is None else text[found.end() :]
    time = _TIME.search(rest)
    if found is None or time is None:
        return None
    metrics = metrics_in(rest, without=_NO_METRICS)
    named = {_NAMES.get(name, name): value for name, value in metrics.items()}
    return _sighting(found, float(time[1]), named)


def _imagenet(text: str) -> Sighting | None:
    found = _IMAGENET.search(text)
    if found is None:
        return None
    meters = {
        name.lower(): float(value) for name, value in _METER.findall(text, found.end("total"))
    }
    time = meters.pop("time", None)
    meters.pop("data", None)
    return None if time is None else _sighting(found, time, meters)


def _sighting(
    found: re.Match[str], seconds_each: float, metrics: dict[str, float]
) -> Sighting | None:
    count = counted(found["current"], found["total"])
    if count is None:
        return None
    test = found["test"] is not None
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="test" if test else "epoch",
        epoch=float(found["epoch"]) if found["epoch"] else None,
        epochs=float(found["epochs"]) if found["epochs"] else None,
        per_epoch=not test,
        rate_per_s=rate_of(seconds_each),
        metrics={f"test_{name}": value for name, value in metrics.items()} if test else metrics,
        phase="evaluating" if test else None,
    )


def _sentence(text: str) -> Sighting | None:
    epoch, done = _EPOCH.match(text), _DONE.fullmatch(text)
    if epoch is not None:
        number = float(epoch[1])
        return Sighting(
            unit="epoch", current=number, series="epochs", ordinal="ended", epoch=number
        )
    return None if done is None else Sighting(phase="finished", elapsed_s=span_seconds(done[1]))

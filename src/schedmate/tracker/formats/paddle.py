"""PaddlePaddle's toolkits: Clas, Detection, Seg, OCR, NLP, and the high-level API."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, counted, rate_of
from schedmate.tracker.formats.quantities import DURATION, seconds_of

_MAX_LENGTH = 2048
_CLAS = lazy_pattern(
    r"\[(Train|Eval)\]\[Epoch (\d{1,9})(?:/(\d{1,9}))?\]\[(?:Iter: ?(\d{1,12})/(\d{1,12})|(Avg))\]"
)
_DETECTION = lazy_pattern(r"Epoch: \[(\d{1,9})\] \[ {0,8}(\d{1,12})/ {0,8}(\d{1,12})\] ")
_SEG = lazy_pattern(r"\[TRAIN\] epoch: (\d{1,9}), iter: (\d{1,12})/(\d{1,12}), ")
_OCR = lazy_pattern(r"epoch: \[(\d{1,9})/(\d{1,9})\], global_step: (\d{1,12}), ")
_NLP = lazy_pattern(r"global step (\d{1,12}), epoch: (\d{1,9}), batch: (\d{1,12}), loss: ")
_HAPI = lazy_pattern(r"step {1,8}(\d{1,12})/(\d{1,12})(?: \[[=>. ]{1,60}\])? - .{0,600}ms/step")
_VALUE = lazy_pattern(
    rf"(?<![\w./@])([A-Za-z_][\w./@]{{0,60}}(?: rate)?)(?:\(\w{{1,40}}\))?: ({NUMBER}) ?"
    r"(s|ms|step/s|steps/s|images/s|samples/s|samples/sec|images/sec|tokens/s)?(?=$|[\s,;|])"
)
_EACH_STEP = lazy_pattern(r" (\d{1,9})ms/step")
_ETA = lazy_pattern(rf"\b(?:eta: |ETA ?:? ?)({DURATION})")
_COSTS = ("batch_cost", "avg_batch_cost")
_NO_METRICS = frozenset(
    {
        "epoch", "iter", "batch", "global_step", "step", "reader_cost", "avg_reader_cost", "eta",
        "data_cost", "avg_samples", "ips", "avg_ips", "speed", "max_mem_reserved", "reader",
        "max_mem_allocated", "ips_total", *_COSTS,
    }
)  # fmt: skip
_SPEEDS = {"samples": "samples_per_s", "images": "samples_per_s", "tokens": "tokens_per_s"}


class Paddle:
    name = "paddle"
    hints = ("[epoch ", "batch_cost", "global step ", "global_step", "ms/step")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        for pattern, sighting in _READERS:
            found = pattern.search(text)
            if found is not None:
                return sighting(found, text)
        return None

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "[2024/01/01 12:00:00] ppcls INFO: [Train][Epoch 1/20][Iter: 10/100]"
            "lr(LinearWarmup): 0.01000000, top1: 0.10000, loss: 2.30000, batch_cost: 0.12500s, "
            "reader_cost: 0.01000, ips: 512.00000 samples/s, eta: 0:03:20",
            Sighting(
                unit="step",
                current=10,
                total=100,
                series="iter",
                epoch=1,
                epochs=20,
                per_epoch=True,
                rate_per_s=8,
                eta_s=200,
                metrics={"lr": 0.01, "top1": 0.1, "loss": 2.3, "samples_per_s": 512.0},
            ),
        ),
        Sample(
            "[Eval][Epoch 1][Iter: 0/20]CELoss: 2.1, loss: 2.1, top1: 0.2",
            Sighting(
                unit="step",
                current=0,
                total=20,
                series="eval",
                epoch=1,
                per_epoch=True,
                metrics={"celoss": 2.1, "loss": 2.1, "top1": 0.2},
                phase="evaluating",
            ),
        ),
        Sample("[Eval][Epoch 1][Avg]top1: 0.25", Sighting(metrics={"eval_top1": 0.25})),
        Sample(
            "[01/01 12:00:00] ppdet.engine INFO: Epoch: [0] [ 20/ 400] learning_rate: 0.010000 "
            "loss: 1.200000 eta: 0:10:00 batch_cost: 0.2500 data_cost: 0.0100 ips: 32.0 images/s",
            Sighting(
                unit="step",
                current=20,
                total=400,
                series="iter",
                epoch=0,
                per_epoch=True,
                rate_per_s=4,
                eta_s=600,
                metrics={"learning_rate": 0.01, "loss": 1.2, "samples_per_s": 32.0},
            ),
        ),
        Sample(
            "[TRAIN] epoch: 1, iter: 10/160000, loss: 0.5000, lr: 0.009, batch_cost: 0.5000, "
            "reader_cost: 0.0010, ips: 8.0000 samples/sec | ETA 22:12:33",
            Sighting(
                unit="step",
                current=10,
                total=160_000,
                series="iter",
                epoch=1,
                rate_per_s=2,
                eta_s=79_953,
                metrics={"loss": 0.5, "lr": 0.009, "samples_per_s": 8.0},
            ),
        ),
        Sample(
            "ppocr INFO: epoch: [1/500], global_step: 10, lr: 0.001, loss: 20.1, "
            "avg_reader_cost: 0.1 s, avg_batch_cost: 0.2 s, avg_samples: 8.0, ips: 40.1 samples/s, "
            "eta: 1 day, 2:03:04",
            Sighting(
                unit="epoch",
                current=1,
                total=500,
                series="epoch",
                ordinal="begun",
                epoch=1,
                epochs=500,
                eta_s=93_784,
                metrics={"lr": 0.001, "loss": 20.1, "samples_per_s": 40.1},
            ),
        ),
        Sample(
            "global step 100, epoch: 1, batch: 99, loss: 0.60000, speed: 3.40 step/s",
            Sighting(
                unit="step",
                current=100,
                series="global step",
                epoch=1,
                rate_per_s=3.4,
                metrics={"loss": 0.6},
            ),
        ),
        Sample(
            "step  10/938 [..............................] - loss: 0.50 - acc: 0.80 - 20ms/step",
            Sighting(
                unit="step",
                current=10,
                total=938,
                series="step",
                per_epoch=True,
                rate_per_s=50,
                metrics={"loss": 0.5, "acc": 0.8},
            ),
        ),
        Sample("[Train][Epoch 1/20][Iter: 101/100]loss: 2", None),
        Sample("Epoch: [0] [ 20/ 400] loss: 1.2", None),
        Sample("global step 100", None),
        Sample("step 10/938 - loss: 0.5", None),
        Sample("step 9/5 - loss: 0.5 - 12ms/step", None),
        Sample("[Train][Epoch " * 5000, None),
    )


def _clas(found: re.Match[str], text: str) -> Sighting | None:
    kind, epoch, epochs, current, total, average = found.groups()
    values, evaluating = _values(text, found.end()), kind == "Eval"
    if average:
        named = {f"{kind.lower()}_{name}": value for name, value in _metrics(values).items()}
        return Sighting(metrics=named)
    counts = counted(current, total)
    if counts is None:
        return None
    return Sighting(
        unit="step",
        current=counts[0],
        total=counts[1],
        series="eval" if evaluating else "iter",
        epoch=float(epoch),
        epochs=float(epochs) if epochs else None,
        per_epoch=True,
        rate_per_s=_rate(values),
        eta_s=_eta(text),
        metrics=_metrics(values),
        phase="evaluating" if evaluating else None,
    )


def _iterations(found: re.Match[str], text: str) -> Sighting | None:
    """PaddleSeg's iterations are of the run, PaddleDetection's of the epoch."""
    counts = counted(found[2], found[3])
    values = _values(text, found.end())
    if counts is None or "batch_cost" not in values:
        return None
    return Sighting(
        unit="step",
        current=counts[0],
        total=counts[1],
        series="iter",
        epoch=float(found[1]),
        per_epoch=found.re.pattern == _DETECTION.pattern,
        rate_per_s=_rate(values),
        eta_s=_eta(text),
        metrics=_metrics(values),
    )


def _ocr(found: re.Match[str], text: str) -> Sighting | None:
    counts = counted(found[1], found[2])
    if counts is None:
        return None
    return Sighting(
        unit="epoch",
        current=counts[0],
        total=counts[1],
        series="epoch",
        ordinal="begun",
        epoch=counts[0],
        epochs=counts[1],
        eta_s=_eta(text),
        metrics=_metrics(_values(text, found.end())),
    )


def _nlp(found: re.Match[str], text: str) -> Sighting | None:
    values = _values(text, found.start())
    speed = values.get("speed", (0.0, ""))[0]
    return Sighting(
        unit="step",
        current=float(found[1]),
        series="global step",
        epoch=float(found[2]),
        rate_per_s=rate_of(1 / speed) if speed else None,
        metrics=_metrics(values),
    )


def _hapi(found: re.Match[str], text: str) -> Sighting | None:
    counts, each = counted(found[1], found[2]), _EACH_STEP.search(text)
    if counts is None:
        return None
    return Sighting(
        unit="step",
        current=counts[0],
        total=counts[1],
        series="step",
        per_epoch=True,
        rate_per_s=rate_of(float(each[1]) / 1000) if each else None,
        metrics=_metrics(_values(text, found.start())),
    )


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Sighting | None]], ...] = (
    (_CLAS, _clas),
    (_DETECTION, _iterations),
    (_SEG, _iterations),
    (_OCR, _ocr),
    (_NLP, _nlp),
    (_HAPI, _hapi),
)


def _values(text: str, start: int) -> dict[str, tuple[float, str]]:
    found = _VALUE.findall(text, start)
    return {name.lower().replace(" ", "_"): (float(value), unit) for name, value, unit in found}


def _metrics(values: dict[str, tuple[float, str]]) -> dict[str, float]:
    metrics = {name: value for name, (value, _) in values.items() if name not in _NO_METRICS}
    speed, unit = values.get("ips") or values.get("avg_ips") or (0.0, "")
    known = _SPEEDS.get(unit.partition("/")[0])
    return metrics | ({known: speed} if known else {})


def _rate(values: dict[str, tuple[float, str]]) -> float | None:
    cost = next((values[name] for name in _COSTS if name in values), None)
    return None if cost is None else rate_of(cost[0])


def _eta(text: str) -> float | None:
    found = _ETA.search(text)
    return None if found is None else seconds_of(found[1])

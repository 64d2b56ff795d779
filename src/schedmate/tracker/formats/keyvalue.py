"""What people print themselves: `step=120 loss=0.3`, `Epoch 3/90`, `step 120/5000 | loss 2.31`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from schedmate.model import Unit
from schedmate.tracker.formats.base import (
    MOST,
    NUMBER,
    Sample,
    Sighting,
    clock_seconds,
    metrics_in,
)

_LONGEST = 2048
_OF = r"\s{0,20}(?:/|\bof\b)\s{0,20}(\d{1,15})"
_EPOCH = re.compile(
    rf"\bepoch\b[\s:=#\[(]{{0,8}}(\d{{1,9}}(?:\.\d{{1,6}})?)(?![\w.])(?:{_OF})?", re.IGNORECASE
)
_STEP = re.compile(
    r"\b(global[_ ]step|step|iter(?:ation)?|update|batch)\b[\s:=#\[(]{0,20}"
    rf"(\d{{1,15}})(?![\w.]*\w)(?:{_OF})?",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"\[\s{0,8}(\d{1,15})/(\d{1,15})(?:\s{0,2}\((\d{1,3})%\))?\s{0,2}\]")
_HEADLINE = re.compile(r"[\W_]*epoch[\W_]*[\d.]+(?:\s*(?:/|of)\s*\d+)?[\W_]*", re.IGNORECASE)
_SPACED = re.compile(
    r"\b((?:[a-z]{1,12}[_-])?(?:loss|acc|accuracy|ppl|perplexity|lr|reward|grad_norm))"
    rf"\s{{1,4}}({NUMBER})(?![\w:/]|\.\d)",
    re.IGNORECASE,
)
_ELAPSED = re.compile(
    r"\b(?:train[_ ]time|elapsed(?:[_ ]time)?|time[_ ]elapsed|total[_ ]time|wall[_ ]?time)\b"
    r"\s{0,4}[:=]?\s{0,4}(?:(\d{1,6}(?::\d{2}){1,2})|(\d{1,15}(?:\.\d{1,9})?)\s?(ms|s|sec|m|min|h)?\b)",
    re.IGNORECASE,
)
_SECONDS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIMES = frozenset(
    {"train_time", "elapsed", "elapsed_time", "time_elapsed", "total_time", "wall_time", "walltime"}
)
_NO_METRICS = _TIMES | {"epoch", "step", "iter", "iteration", "update", "batch", "global_step"}
_SPACED_HINTS = ("loss ", "acc ", "accuracy ", "ppl ", "perplexity ", "lr ", "reward ", "norm ")


@dataclass(frozen=True, slots=True)
class _Count:
    current: float
    total: float | None
    unit: Unit
    word: str


class KeyValue:
    name = "keyvalue"
    hints = ("epoch", "step", "iter", "update", "batch")

    def read(self, line: str) -> Sighting | None:
        text = line[:_LONGEST]
        lowered = text.lower()
        if not any(hint in lowered for hint in self.hints):
            return None
        epoch, step = _epoch(text), _step(text)
        if epoch is None and step is None:
            return None
        metrics = metrics_in(text, without=_NO_METRICS)
        if any(hint in lowered for hint in _SPACED_HINTS):
            metrics = _spaced_metrics(text) | metrics
        if step is not None and (step.total is not None or (metrics and step.word != "batch")):
            return _stepped(text, step, epoch, metrics)
        return None if epoch is None else _in_epochs(text, epoch, metrics)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "step=120 loss=0.3",
            Sighting(unit="step", current=120, series="step", metrics={"loss": 0.3}),
        ),
        Sample(
            "step 120/5000 | loss 2.31",
            Sighting(unit="step", current=120, total=5000, series="step", metrics={"loss": 2.31}),
        ),
        Sample(
            "iter: 5, loss: 1e-3",
            Sighting(unit="step", current=5, series="iter", metrics={"loss": 0.001}),
        ),
        Sample(
            "Epoch 3/90",
            Sighting(
                unit="epoch",
                current=3,
                total=90,
                series="epoch",
                ordinal="begun",
                epoch=3,
                epochs=90,
            ),
        ),
        Sample(
            "Epoch 3/90 - train loss: 0.51, val acc=71.2%",
            Sighting(
                unit="epoch",
                current=3,
                total=90,
                series="epoch",
                ordinal="ended",
                epoch=3,
                epochs=90,
                metrics={"train_loss": 0.51, "val_acc": 71.2},
            ),
        ),
        Sample(
            "Epoch [2/5], Step [100/600], Loss: 0.4321",
            Sighting(
                unit="step",
                current=100,
                total=600,
                series="step",
                epoch=2,
                epochs=5,
                per_epoch=True,
                metrics={"loss": 0.4321},
            ),
        ),
        Sample(
            "Train Epoch: 3 [1280/60000 (2%)]\tLoss: 0.34",
            Sighting(
                unit="sample",
                current=1280,
                total=60000,
                series="epoch[]",
                epoch=3,
                per_epoch=True,
                metrics={"loss": 0.34},
            ),
        ),
        Sample(
            "step:2035/2035 val_loss:3.2792 train_time:123933ms step_avg:60.90ms",
            Sighting(
                unit="step",
                current=2035,
                total=2035,
                series="step",
                elapsed_s=123.933,
                metrics={"val_loss": 3.2792},
            ),
        ),
        Sample(
            " iteration        2/    1000 | learning rate: 3.750E-05 | lm loss: 1.28E+01 |",
            Sighting(
                unit="step",
                current=2,
                total=1000,
                series="iteration",
                metrics={"learning_rate": 3.75e-05, "lm_loss": 12.8},
            ),
        ),
        Sample("epochs: 90", None),
        Sample("batch: 32 lr: 0.1", None),
        Sample("we step over 3/4 of the files", None),
        Sample("step 120", None),
        Sample("step 0.5 loss 3", None),
        Sample("step 9/5 loss 3", None),
        Sample("setting training data start iteration to 0", None),
        Sample("step" * 100_000, None),
        Sample("epoch " * 100_000, None),
        Sample("epoch\x00\ufffd 3", None),
    )


def _epoch(text: str) -> _Count | None:
    found = _EPOCH.search(text)
    if found is None:
        return None
    current, total = float(found[1]), _total(found[2])
    return (
        None if total is not None and current > total else _Count(current, total, "epoch", "epoch")
    )


def _step(text: str) -> _Count | None:
    found = _STEP.search(text)
    if found is None:
        return None
    current, total = float(found[2]), _total(found[3])
    if total is not None and current > total:
        return None
    return _Count(current, total, "step", found[1].lower())


def _total(digits: str | None) -> float | None:
    return float(digits) if digits and 0 < float(digits) < MOST else None


def _stepped(text: str, step: _Count, epoch: _Count | None, metrics: dict[str, float]) -> Sighting:
    epochs = None if epoch is None else epoch.total
    return Sighting(
        unit=step.unit,
        current=step.current,
        total=step.total,
        series=step.word,
        epoch=None if epoch is None else epoch.current,
        epochs=epochs,
        per_epoch=epochs is not None and step.total is not None,
        elapsed_s=_elapsed(text),
        metrics=metrics,
    )


def _in_epochs(text: str, epoch: _Count, metrics: dict[str, float]) -> Sighting | None:
    inner = None if epoch.total is not None else _bracket(text)
    if inner is not None:
        return Sighting(
            unit=inner.unit,
            current=inner.current,
            total=inner.total,
            series=inner.word,
            epoch=epoch.current,
            per_epoch=True,
            elapsed_s=_elapsed(text),
            metrics=metrics,
        )
    headline = _HEADLINE.fullmatch(text[:200]) is not None
    if epoch.total is None and not (metrics or headline):
        return None
    return Sighting(
        unit="epoch",
        current=epoch.current,
        total=epoch.total,
        series="epoch",
        ordinal="begun" if headline else "ended",
        epoch=epoch.current,
        epochs=epoch.total,
        elapsed_s=_elapsed(text),
        metrics=metrics,
    )


def _bracket(text: str) -> _Count | None:
    """`[1280/60000 (2%)]` counts samples, `[ 120/5004]` steps, both within the epoch."""
    found = _BRACKET.search(text)
    total = None if found is None else _total(found[2])
    if found is None or total is None or float(found[1]) > total:
        return None
    return _Count(float(found[1]), total, "sample" if found[3] else "step", "epoch[]")


def _spaced_metrics(text: str) -> dict[str, float]:
    return {name.lower(): float(value) for name, value in _SPACED.findall(text)}


def _elapsed(text: str) -> float | None:
    found = _ELAPSED.search(text)
    if found is None:
        return None
    if found[1]:
        return clock_seconds(found[1])
    return float(found[2]) * _SECONDS[(found[3] or "s").lower()]

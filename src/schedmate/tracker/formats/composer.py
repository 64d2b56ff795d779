"""MosaicML Composer and LLM Foundry: a headline with the count, a line for each metric."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, counted

_MAX_LENGTH = 512
_HEADLINE = lazy_pattern(
    r"(?:\[[A-Z]{3,9}\])?(?:\[epoch=(\d{1,9})\])?\[(batch|iteration|epoch|sample|token)="
    r"(\d{1,15})(?:/(\d{1,15}))?\]:?(?: |$)"
)
_EVALUATION = lazy_pattern(r"\[Eval batch=(\d{1,12})/(\d{1,12})\] Eval on ")
_METRIC = lazy_pattern(rf"(Train|Eval) ([A-Za-z_]\w{{0,40}}(?:/[\w.-]{{1,60}}){{1,6}}): ({NUMBER})")
_UNITS: dict[str, Unit] = {
    "batch": "step",
    "iteration": "step",
    "epoch": "epoch",
    "sample": "sample",
    "token": "token",
}
_THROUGHPUT = {
    "throughput/samples_per_sec": "samples_per_s",
    "throughput/tokens_per_sec": "tokens_per_s",
}


class Composer:
    name = "composer"
    hints = ("batch=", "[iteration=", "[epoch=", "[sample=", "[token=", "train ", "eval ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if text.startswith("["):
            return _headline(text)
        found = _METRIC.fullmatch(text) if text.startswith(("Train ", "Eval ")) else None
        if found is None:
            return None
        name = found[2].lower()
        return Sighting(metrics={_THROUGHPUT.get(name, name): float(found[3])})

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample("[batch=100/4800]:", Sighting(unit="step", current=100, total=4800, series="batch")),
        Sample(
            "[epoch=1][batch=10/50]:",
            Sighting(unit="step", current=10, total=50, series="batch", epoch=1, per_epoch=True),
        ),
        Sample(
            "[token=1048576/20000000]:",
            Sighting(unit="token", current=1_048_576, total=20_000_000, series="token"),
        ),
        Sample(
            "[Eval batch=3/20] Eval on c4 data",
            Sighting(unit="step", current=3, total=20, series="eval", phase="evaluating"),
        ),
        Sample("Train loss/train/total: 2.31", Sighting(metrics={"loss/train/total": 2.31})),
        Sample(
            "Train throughput/tokens_per_sec: 51234.5", Sighting(metrics={"tokens_per_s": 51234.5})
        ),
        Sample(
            "Eval metrics/c4/LanguageCrossEntropy: 2.9",
            Sighting(metrics={"metrics/c4/languagecrossentropy": 2.9}),
        ),
        Sample("[batch=100", None),
        Sample("[batch=9/5]:", None),
        Sample("Train loss: 2.31", None),
        Sample("Train the model/today: soon", None),
        Sample("Train a" + "/a" * 20_000, None),
    )


def _headline(text: str) -> Sighting | None:
    evaluated = _EVALUATION.match(text)
    if evaluated is not None:
        counts = counted(evaluated[1], evaluated[2])
        return None if counts is None else _evaluating(*counts)
    found = _HEADLINE.match(text)
    if found is None:
        return None
    epoch, unit, current, total = found.groups()
    counts = counted(current, total) if total else None
    if total and counts is None:
        return None
    return Sighting(
        unit=_UNITS[unit],
        current=float(current),
        total=counts[1] if counts else None,
        series=unit,
        epoch=float(epoch) if epoch else None,
        per_epoch=epoch is not None,
    )


def _evaluating(current: float, total: float) -> Sighting:
    return Sighting(unit="step", current=current, total=total, series="eval", phase="evaluating")

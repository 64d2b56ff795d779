"""NeMo's progress printer; its bars are Lightning's."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Phase
from schedmate.tracker.formats.base import Sample, Sighting, counted, metrics_in, rate_of

_MAX_LENGTH = 2048
_TRAINING = lazy_pattern(r"\bTraining epoch (\d{1,9}), iteration (\d{1,12})/(\d{1,12})(?: \||$)")
_AUXILIARY = lazy_pattern(
    r"(?:Sanity checking )?(Validation|Testing): iteration (\d{1,12})/(\d{1,12})$"
)
_NO_METRICS = frozenset({"global_step", "train_step_timing_in_s", "consumed_samples"})


class NeMo:
    name = "nemo"
    hints = ("training epoch ", "validation: iteration ", "testing: iteration ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH].strip()
        return _trained(text) or _aside(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        # after its format strings
        Sample(
            "Training epoch 0, iteration 12/99 | lr: 3e-04 | global_batch_size: 512 |"
            " global_step: 12 | reduced_train_loss: 11.03 | train_step_timing in s: 4.0 |"
            " consumed_samples: 6656",
            Sighting(
                unit="step",
                current=12,
                total=99,
                series="training",
                epoch=0,
                rate_per_s=0.25,
                metrics={"lr": 3e-04, "global_batch_size": 512.0, "reduced_train_loss": 11.03},
            ),
        ),
        Sample(
            "Training epoch 1, iteration 5/99",
            Sighting(unit="step", current=5, total=99, series="training", epoch=1),
        ),
        Sample(
            "Validation: iteration 3/8",
            Sighting(unit="step", current=3, total=8, series="validation", phase="evaluating"),
        ),
        Sample(
            "Sanity checking Validation: iteration 1/2",
            Sighting(unit="step", current=1, total=2, series="validation", phase="evaluating"),
        ),
        Sample("Training epoch 3, iteration 100/99 | lr: 1", None),
        Sample("Training epoch 3/5, loss: 1", None),
        Sample("Training epoch " * 10_000, None),
    )


def _trained(text: str) -> Sighting | None:
    """The total is that of the run wherever steps are limited, as they are for large models."""
    found = _TRAINING.search(text)
    count = None if found is None else counted(found[2], found[3])
    if found is None or count is None:
        return None
    metrics = metrics_in(text[found.end() :])
    seconds = metrics.get("train_step_timing_in_s")
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="training",
        epoch=float(found[1]),
        rate_per_s=rate_of(seconds),
        metrics={name: value for name, value in metrics.items() if name not in _NO_METRICS},
    )


def _aside(text: str) -> Sighting | None:
    found = _AUXILIARY.match(text)
    count = None if found is None else counted(found[2], found[3])
    if found is None or count is None:
        return None
    evaluating: Phase = "evaluating"
    return Sighting(
        unit="step", current=count[0], total=count[1], series=found[1].lower(), phase=evaluating
    )

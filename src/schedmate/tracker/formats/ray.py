"""Ray Train and Tune, RLlib among them: iterations of trials and their results."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, metric_name
from schedmate.tracker.formats.quantities import DURATION, seconds_of
from schedmate.tracker.formats.setting_names import TOTALS

_MAX_LENGTH = 1024
_WHO = r"(Training|Trial [\w.=,-]{1,200})"
_FINISHED = lazy_pattern(
    rf"{_WHO} (finished iteration|completed after) (\d{{1,12}})(?: iterations?)? at "
    rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\. Total running time: ({DURATION})"
)
_SAVED = lazy_pattern(
    rf"{_WHO} saved a checkpoint for iteration (\d{{1,12}}) at: (?:\(\w{{1,20}}\))?(\S{{1,500}})"
)
_ROW = lazy_pattern(rf"│ ([A-Za-z_][\w./-]{{0,200}}) {{1,200}}({NUMBER}) │")
_ITERATION = lazy_pattern(r"training_iteration: (\d{1,12})")


class Ray:
    name = "ray"
    hints = ("total running time", "saved a checkpoint for iteration", "│", "training_iteration: ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if text.startswith("│"):
            return _row(text)
        saved = _SAVED.search(text)
        if saved is not None:
            return Sighting(checkpoint=Checkpoint(path=saved[3], step=int(saved[2])))
        finished = _FINISHED.search(text)
        if finished is not None:
            return _iteration(finished)
        old = _ITERATION.fullmatch(text)
        return old and Sighting(unit="step", current=float(old[1]), series="training_iteration")

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "Training finished iteration 3 at 2025-03-03 03:32:45. Total running time: 29s",
            Sighting(unit="step", current=3, series="Training", elapsed_s=29),
        ),
        Sample(
            "Trial train_fn_12ab_00000 finished iteration 3 at 2024-01-01 12:00:00. "
            "Total running time: 1min 2s",
            Sighting(unit="step", current=3, series="Trial train_fn_12ab_00000", elapsed_s=62),
        ),
        Sample(
            "Training completed after 10 iterations at 2025-03-03 03:34:00. "
            "Total running time: 1hr 0min 4s",
            Sighting(unit="step", current=10, series="Training", elapsed_s=3604, phase="finished"),
        ),
        Sample(
            "Training saved a checkpoint for iteration 3 at: (local)/tmp/run/checkpoint_000002",
            Sighting(checkpoint=Checkpoint(path="/tmp/run/checkpoint_000002", step=3)),  # noqa: S108 - a printed path
        ),
        Sample("│ loss                  0.51455 │", Sighting(metrics={"loss": 0.51455})),
        Sample(
            "│ num_env_steps_sampled_lifetime       4000 │",
            Sighting(metrics={"num_env_steps_sampled_lifetime": 4000.0}),
        ),
        Sample("│ train_loop_config/num_epochs      10 │", Sighting(unit="epoch", total=10)),
        Sample(
            "training_iteration: 3",
            Sighting(unit="step", current=3, series="training_iteration"),
        ),
        Sample("│ train_fn_12ab   RUNNING   3   0.5 │", None),
        Sample("│ Training result               │", None),
        Sample("Trial status: 1 TERMINATED", None),
        Sample("Current time: 2024-09-06 16:11:30. Total running time: 28s", None),
        Sample("│ " + "a " * 9000 + "1 │", None),
    )


def _iteration(found: re.Match[str]) -> Sighting:
    """A trial's end is not that of all; where there is one training, it is."""
    over = found[1] == "Training" and found[2] == "completed after"
    return Sighting(
        unit="step",
        current=float(found[3]),
        series=found[1],
        elapsed_s=seconds_of(found[4]),
        phase="finished" if over else None,
    )


def _row(text: str) -> Sighting | None:
    found = _ROW.fullmatch(text)
    if found is None:
        return None
    name, value = metric_name(found[1]), float(found[2])
    unit = TOTALS.get(name.rpartition("/")[2])
    if unit is None:
        return Sighting(metrics={name: value})
    return Sighting(unit=unit, total=value) if 0 < value < float("inf") else None

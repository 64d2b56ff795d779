"""The tables of Stable-Baselines, a value a row; only the steps taken say how far the run is."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, metric_name

_MAX_LENGTH = 200
_ROW = lazy_pattern(rf"\| {{4}}([\w./ -]{{1,60}}?) {{1,60}}\| ({NUMBER}) {{0,60}}\|")
_STEPS = "total_timesteps"
_COUNTS = ("iterations", "episodes", "time_elapsed", "n_updates")


class StableBaselines:
    name = "stable-baselines"
    hints = ("|    ",)

    def read(self, line: str) -> Sighting | None:
        found = _ROW.fullmatch(line) if len(line) <= _MAX_LENGTH else None
        if found is None:
            return None
        name, value = metric_name(found[1]), float(found[2])
        if name == _STEPS:
            steps = Sighting(unit="step", current=value, series=_STEPS)
            return steps if 0 <= value < float("inf") else None
        return None if name in _COUNTS else Sighting(metrics={name: value})

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of stable-baselines3 2.9.2, really run
        Sample(
            "|    total_timesteps      | 2048           |",
            Sighting(unit="step", current=2048, series="total_timesteps"),
        ),
        Sample("|    fps             | 132      |", Sighting(metrics={"fps": 132.0})),
        Sample(
            "|    explained_variance   | -5.94e+13      |",
            Sighting(metrics={"explained_variance": -5.94e13}),
        ),
        Sample(
            "|    entropy_loss         | -0.693    |", Sighting(metrics={"entropy_loss": -0.693})
        ),
        Sample("|    iterations      | 1        |", None),
        Sample("|    time_elapsed    | 0        |", None),
        Sample("| rollout/           |          |", None),
        Sample("| total_timesteps | 2048 |", None),
        Sample("|    total_timesteps | -3 |", None),
        Sample("|    total_timesteps | nan |", None),
        Sample("|    " + " " * 60_000 + "| 3 |", None),
        Sample("|    \x00\ufffd | 3 |", None),
    )

"""Tables of a name and a value a row: Spinning Up, OpenAI's baselines and others."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, NUMBER, Sample, Sighting, metric_name

_MAX_LENGTH = 200
_ROW = lazy_pattern(
    rf"\| {{0,80}}([A-Za-z][\w./ -]{{0,60}}?) {{0,80}}\| {{0,80}}({NUMBER}) {{0,80}}\|"
)
_STEPS = (
    "step", "steps", "global_step", "iteration", "itr", "iter", "timesteps", "timestep",
    "total_timesteps", "totalenvinteracts", "totalenvsteps", "env_steps", "total_steps",
    "frames", "episodes", "episode",
)  # fmt: skip
_COUNTS: dict[str, Unit] = {"epoch": "epoch", "samples": "sample", "tokens": "token"}
_COUNTS.update((name, "step") for name in _STEPS)
_SETTINGS = lazy_pattern(
    r"(?:max|num|n|total|min)_.{1,60}|.{0,60}(?:size|seed|workers|epochs|updates|iterations)"
)
_TIMES = ("time", "time_elapsed", "timestamp", "date")


class BoxTable:
    name = "boxtable"
    hints = ("|",)

    def read(self, line: str) -> Sighting | None:
        found = _ROW.fullmatch(line) if line.startswith("|") and len(line) <= _MAX_LENGTH else None
        if found is None:
            return None
        name, value = metric_name(found[1]), float(found[2])
        last = name.rpartition("/")[2]
        if last in _COUNTS:
            return _count(last, value)
        if last in _TIMES or _SETTINGS.fullmatch(last):
            return None
        return Sighting(metrics={name: value})

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "|             Epoch |               5 |",
            Sighting(unit="epoch", current=5, series="epoch", ordinal="ended", epoch=5),
        ),
        Sample(
            "| TotalEnvInteracts |           2e+04 |",
            Sighting(unit="step", current=20_000, series="totalenvinteracts"),
        ),
        Sample("| step          | 1.2e+03  |", Sighting(unit="step", current=1200, series="step")),
        Sample("| samples | 153600 |", Sighting(unit="sample", current=153_600, series="samples")),
        Sample(
            "| misc/total_timesteps | 2.05e+05 |",
            Sighting(unit="step", current=205_000, series="total_timesteps"),
        ),
        Sample("|      AverageEpRet |            62.5 |", Sighting(metrics={"averageepret": 62.5})),
        Sample("| loss_q0 | 0.12 |", Sighting(metrics={"loss_q0": 0.12})),
        Sample("|              Time |            62.5 |", None),
        Sample("| batch_size | 32 |", None),
        Sample("| max_steps | 5000 |", None),
        Sample("| step | -3 |", None),
        Sample("| step | inf |", None),
        Sample(
            "| N/A   35C    P0    58W / 300W |    500MiB / 16384MiB |      0%      Default |", None
        ),
        Sample("|   0  Tesla  | 3 |  5 |", None),
        Sample("| step | 3 | loss | 5 |", None),
        Sample("|" + " " * 150 + "| 3 |", None),
        Sample("| a" + " a" * 90 + "| 3 |", None),
    )


def _count(name: str, value: float) -> Sighting | None:
    if not 0 <= value < MAX_COUNT:
        return None
    if _COUNTS[name] == "epoch":
        return Sighting(unit="epoch", current=value, series=name, ordinal="ended", epoch=value)
    return Sighting(unit=_COUNTS[name], current=value, series=name)

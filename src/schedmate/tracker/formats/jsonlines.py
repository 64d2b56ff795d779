"""One JSON object a line, as metric loggers write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, Sample, Sighting, metric_name
from schedmate.tracker.formats.total_names import total_names

_MAX_LENGTH = 65_536
_MAX_METRICS = 32
_COUNTS: tuple[tuple[str, Unit], ...] = (
    ("global_step", "step"),
    ("step", "step"),
    ("current_step", "step"),
    ("iteration", "step"),
    ("iter", "step"),
    ("num_updates", "step"),
    ("update", "step"),
    ("batch", "step"),
    ("episode", "step"),
    ("generation", "step"),
    ("round", "step"),
    ("tokens_seen", "token"),
    ("epoch", "epoch"),
)
_TOTALS: dict[Unit, tuple[str, ...]] = {
    "step": (
        "total_steps",
        "max_steps",
        "num_steps",
        "total_iterations",
        "max_iters",
        "total",
        "of",
        "max_iter",
        "num_iters",
        "n_iters",
    ),
    "epoch": ("epochs", "total_epochs", "num_epochs", "max_epochs"),
    "token": ("total_tokens",),
}
_ELAPSED = ("elapsed_s", "elapsed", "elapsed_time", "time_elapsed", "train_time", "_runtime")
_STAMPS = ("ts", "timestamp", "_timestamp", "time", "created", "unix_time")
_SINCE, _UNTIL = 1.2e9, 4e9
"""The years 2008 and 2096."""
_NO_METRICS = frozenset(
    {name for name, _ in _COUNTS} | {name for names in _TOTALS.values() for name in names}
).union(_ELAPSED, _STAMPS, ("pid", "rank", "lineno"))


class JsonLines:
    name = "jsonl"
    hints = ("{",)

    def read(self, line: str) -> Sighting | None:
        if not line.startswith("{") or not line.endswith("}") or len(line) > _MAX_LENGTH:
            return None
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return _sighting({metric_name(key): value for key, value in record.items()})

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            '{"step": 120, "total_steps": 5000, "loss": 2.31, "elapsed_s": 35.5}',
            Sighting(
                unit="step",
                current=120,
                total=5000,
                series="step",
                elapsed_s=35.5,
                metrics={"loss": 2.31},
            ),
        ),
        Sample(
            '{"epoch": 3, "train_loss": 0.25, "lr": 0.1, "note": "ok"}',
            Sighting(
                unit="epoch",
                current=3,
                series="epoch",
                ordinal="ended",
                epoch=3,
                metrics={"train_loss": 0.25, "lr": 0.1},
            ),
        ),
        Sample(
            '{"loss": NaN, "global_step": 7, "epoch": 0.5}',
            Sighting(
                unit="step",
                current=7,
                series="global_step",
                epoch=0.5,
                metrics={"loss": float("nan")},
            ),
        ),
        Sample(
            '{"ts": 1740000006.5, "iter": 5, "max_iter": 500}',
            Sighting(unit="step", current=5, total=500, series="iter", at=1740000006.5),
        ),
        Sample('{"level": "info", "message": "step 3 of 5"}', None),
        Sample('{"step": true}', None),
        Sample('{"step": -1}', None),
        Sample('{"step": 1e300, "loss": 1}', None),
        Sample('{"step": ' + "9" * 5000 + "}", None),
        Sample('{"a":' * 20_000 + "}", None),
        Sample('{"step": 12', None),
    )


def _sighting(record: Mapping[str, Any]) -> Sighting | None:
    for name, unit in _COUNTS:
        current = _number(record.get(name))
        if current is not None and 0 <= current < MAX_COUNT:
            return Sighting(
                unit=unit,
                current=current,
                total=_total(record, name, unit, current),
                series=name,
                ordinal="ended" if unit == "epoch" and current.is_integer() else None,
                epoch=_first(record, ("epoch",)),
                elapsed_s=_first(record, _ELAPSED),
                at=_stamp(record),
                metrics=_metrics(record),
            )
    return None


def _stamp(record: Mapping[str, Any]) -> float | None:
    """Seconds since 1970 under a name for times."""
    at = _first(record, _STAMPS)
    return at if at is not None and _SINCE <= at < _UNTIL else None


def _metrics(record: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: _number(value) for name, value in record.items() if name not in _NO_METRICS}
    found = [(name, value) for name, value in numbers.items() if value is not None]
    return dict(found[:_MAX_METRICS])


def _total(record: Mapping[str, Any], name: str, unit: Unit, current: float) -> float | None:
    total = _first(record, (*_TOTALS[unit], *total_names(name)))
    return total if total is not None and max(current, 1) <= total < MAX_COUNT else None


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    values = (_number(record.get(name)) for name in names)
    return next((value for value in values if value is not None and _usable(value)), None)


def _usable(value: float) -> bool:
    return 0 <= value < MAX_COUNT


def _number(value: object) -> float | None:
    """A JSON number as float; whole numbers too large for one are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isinstance(value, float) or abs(value) < MAX_COUNT else None

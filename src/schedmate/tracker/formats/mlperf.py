"""MLPerf training logs: `:::MLLOG {"time_ms": ..., "key": "eval_accuracy", ...}`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Unit
from schedmate.tracker.formats.base import MAX_COUNT, Ordinal, Sample, Sighting, metric_name

_MAX_LENGTH = 65_536
_MARK = ":::MLLOG "
_LAUNCHER = lazy_pattern(
    r"(Beginning trial \d|STARTING TIMING RUN AT )|ENDING TIMING RUN AT "
    r"|RESULT,\w{1,60},[^,]{0,60},\d"
)
"""Each rank's launcher prints these; the numbers in them count nothing of this run."""
_LATEST_S = 1e11
_MAX_EPOCHS = 20_000
"""No benchmark has more epochs; what is more counts samples under the name of epochs, ..."""
_MAX_SAMPLES = 20_000_000
"""... and what is still more, tokens."""
_MAX_EPOCHS_A_BLOCK = 1000
_COUNTS: tuple[tuple[str, Unit], ...] = (("samples_count", "sample"), ("step_num", "step"))
_TOTALS: Mapping[str, Unit] = {
    "max_steps": "step",
    "max_epochs": "epoch",
    "num_epochs": "epoch",
    "epoch_count": "epoch",
}
_AN_EPOCH = frozenset({"train_samples", "samples_per_epoch"})
_PROGRESS: Mapping[str, tuple[str, Ordinal | None]] = {
    "epoch_start": ("epoch", "begun"),
    "epoch_stop": ("epoch", "ended"),
    "block_start": ("block", "begun"),
    "block_stop": ("block", None),
    "eval_accuracy": ("eval", None),
}
_THROUGHPUTS = frozenset({"throughput", "imgs_sec"})


class MlPerf:
    name = "mlperf"
    hints = (":::mllog", "beginning trial ", " timing run at ", "result,")

    def read(self, line: str) -> Sighting | None:
        launched = _LAUNCHER.match(line)
        if launched is not None:
            return Sighting(phase="starting" if launched[1] else None)
        start = line.find(_MARK, 0, 200)
        if start < 0 or len(line) > _MAX_LENGTH:
            return None
        try:
            event = json.loads(line[start + len(_MARK) :])
        except (ValueError, RecursionError):
            return None
        return said_by(event) if isinstance(event, dict) else None

    samples: ClassVar[tuple[Sample, ...]] = (
        # shapes of public results, other numbers
        Sample(
            ':::MLLOG {"namespace": "", "time_ms": 1600000000500, "event_type": "INTERVAL_END",'
            ' "key": "epoch_stop", "value": null, "metadata": {"lineno": 9, "epoch_num": 3}}',
            Sighting(
                unit="epoch",
                current=3,
                series="epoch",
                ordinal="ended",
                epoch=3,
                at=1600000000.5,
            ),
        ),
        Sample(
            '0: :::MLLOG {"namespace": "", "time_ms": 1600000000000, "key": "epoch_start",'
            ' "value": null, "metadata": {"epoch_num": 1}}',
            Sighting(
                unit="epoch", current=1, series="epoch", ordinal="begun", epoch=1, at=1600000000
            ),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "eval_accuracy", "value": 0.7123,'
            ' "metadata": {"epoch_num": 0.25}}',
            Sighting(
                unit="epoch",
                current=0.25,
                series="eval",
                epoch=0.25,
                at=1600000000,
                metrics={"eval_accuracy": 0.7123},
            ),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "eval_accuracy", "value": 0.42,'
            ' "metadata": {"epoch_num": 150000}}',
            Sighting(
                unit="sample",
                current=150000,
                series="eval",
                at=1600000000,
                metrics={"eval_accuracy": 0.42},
            ),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "eval_accuracy", "value": {"BBOX": 0.25,'
            ' "SEGM": 0.125}, "metadata": {"epoch_num": 2}}',
            Sighting(
                unit="epoch",
                current=2,
                series="eval",
                epoch=2,
                at=1600000000,
                metrics={"eval_accuracy_bbox": 0.25, "eval_accuracy_segm": 0.125},
            ),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "eval_accuracy", "value": 88.5,'
            ' "metadata": {"samples_count": 512000, "metric": "FID"}}',
            Sighting(
                unit="sample",
                current=512000,
                series="eval",
                at=1600000000,
                metrics={"eval_accuracy_fid": 88.5},
            ),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "block_stop", "value": null,'
            ' "metadata": {"samples_count": 1536}}',
            Sighting(unit="sample", current=1536, series="block", at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "block_start", "value": null,'
            ' "metadata": {"first_epoch_num": 4, "epoch_count": 3}}',
            Sighting(
                unit="epoch", current=4, series="block", ordinal="begun", epoch=4, at=1600000000
            ),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "block_start", "value": null,'
            ' "metadata": {"first_epoch_num": 168, "epoch_count": 3360}}',
            Sighting(unit="sample", current=168, series="block", at=1600000000),
        ),
        Sample("Beginning trial 6 of 10", Sighting(phase="starting")),
        Sample("ENDING TIMING RUN AT 2024-05-01 12:36:06 PM", Sighting()),
        Sample("RESULT,IMAGE_CLASSIFICATION,,930,,2024-05-01 12:20:36 PM", Sighting()),
        Sample("RESULT, 3 of 4", None),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "eval_start", "value": null,'
            ' "metadata": {"epoch_num": 3}}',
            Sighting(epoch=3, phase="evaluating", at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "init_start", "value": null}',
            Sighting(phase="starting", at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "num_epochs", "value": 12}',
            Sighting(unit="epoch", total=12, at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "train_samples", "value": 117266}',
            Sighting(unit="sample", total=117266, per_epoch=True, at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "tracked_stats",'
            ' "value": {"throughput": 2500.5, "loss": 1.5}, "metadata": {"step": 2}}',
            Sighting(metrics={"samples_per_s": 2500.5, "loss": 1.5}, at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "run_stop", "value": null,'
            ' "metadata": {"status": "success"}}',
            Sighting(phase="finished", ended_by="early_stop", at=1600000000),
        ),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "run_stop", "value": null,'
            ' "metadata": {"status": "aborted"}}',
            Sighting(phase="failed", ended_by="unknown", at=1600000000),
        ),
        Sample(':::MLLOG {"key": "block_stop", "metadata": {"first_epoch_num": 20}}', Sighting()),
        Sample(
            ':::MLLOG {"time_ms": 1600000000000, "key": "max_sequence_length", "value": 512,'
            ' "metadata": {"epochs": 3}}',
            Sighting(at=1600000000),
        ),
        Sample(':::MLLOG {"key": "epoch_stop", "metadata": {"epoch_num": -1}}', Sighting()),
        Sample(':::MLLOG {"key": ["epoch_stop"], "metadata": 3}', None),
        Sample(':::MLLOG ["epoch_stop"]', None),
        Sample(':::MLLOG {"key": "epoch_stop", "metadata": {"epoch_num"', None),
        Sample(":::MLLOG " + "[" * 60_000, None),
        Sample(":::MLLOG " + "9" * 60_000, None),
    )


def said_by(event: Mapping[str, Any]) -> Sighting | None:
    """What an event states; an event without progress is not offered to other formats."""
    key, value, metadata = event.get("key"), event.get("value"), event.get("metadata")
    if not isinstance(key, str):
        return None
    about = metadata if isinstance(metadata, dict) else {}
    stated = _progress(key, about) or _word(key, about) or _total(key, value) or Sighting()
    at = _number(event.get("time_ms"))
    return replace(
        stated,
        metrics=_metrics(key, value, about),
        at=at / 1000 if at and at / 1000 < _LATEST_S else None,
    )


def _progress(key: str, about: Mapping[str, Any]) -> Sighting | None:
    series, ordinal = _PROGRESS.get(key, ("", None))
    unit, current = _count(about)
    stale = key == "block_stop" and "first_epoch_num" in about  # where the block began
    if not series or unit is None or current is None or stale:
        return None
    named = unit == "epoch" and current.is_integer()
    return Sighting(
        unit=unit,
        current=current,
        series=series,
        ordinal=ordinal if named else None,
        epoch=current if unit == "epoch" else None,
    )


def _count(about: Mapping[str, Any]) -> tuple[Unit | None, float | None]:
    """What the metadata counts, and how many of it."""
    for name, unit in _COUNTS:
        exact = _number(about.get(name))
        if exact is not None:
            return unit, exact
    first, epochs = _number(about.get("first_epoch_num")), _number(about.get("epoch_count"))
    current = _number(about.get("epoch_num")) if first is None else first
    if current is None:
        return None, None
    if current > _MAX_SAMPLES or (epochs or 0) > _MAX_SAMPLES:
        return "token", current
    if current > _MAX_EPOCHS or (epochs or 0) > _MAX_EPOCHS_A_BLOCK:
        return "sample", current
    return "epoch", current


def _word(key: str, about: Mapping[str, Any]) -> Sighting | None:
    if key == "eval_start":
        unit, current = _count(about)
        return Sighting(phase="evaluating", epoch=current if unit == "epoch" else None)
    if key == "init_start":
        return Sighting(phase="starting")
    if key in ("run_start", "eval_stop"):
        return Sighting(phase="training")
    if key != "run_stop":
        return None
    if about.get("status") == "success":  # the target quality is reached, wherever that is
        return Sighting(phase="finished", ended_by="early_stop")
    return Sighting(phase="failed", ended_by="unknown")


def _total(key: str, value: object) -> Sighting | None:
    total = _number(value)
    if not total:
        return None
    if key in _AN_EPOCH:
        return Sighting(unit="sample", total=total, per_epoch=True)
    return Sighting(unit=_TOTALS[key], total=total) if key in _TOTALS else None


def _metrics(key: str, value: object, about: Mapping[str, Any]) -> dict[str, float]:
    if key in _THROUGHPUTS:
        values: Mapping[str, object] = {"samples_per_s": value}
    elif key == "tracked_stats" and isinstance(value, dict):
        values = {_stat_name(name): one for name, one in list(value.items())[:32]}
    elif key == "eval_accuracy" and isinstance(value, dict):
        values = {f"{key}_{metric_name(name)}": one for name, one in list(value.items())[:32]}
    elif key == "eval_accuracy":
        kind = about.get("metric")
        values = {f"{key}_{metric_name(kind)}" if isinstance(kind, str) else key: value}
    else:
        values = {}
    return {
        name: float(one)
        for name, one in values.items()
        if isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < MAX_COUNT
    }


def _stat_name(name: str) -> str:
    return "samples_per_s" if name in _THROUGHPUTS else metric_name(name)


def _number(value: object) -> float | None:
    """A JSON number that can be a count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < MAX_COUNT else None

"""OpenMMLab: mmengine's and the older mmcv's text loggers."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint, Phase, Unit
from schedmate.tracker.formats.base import (
    MAX_COUNT,
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
_HEAD = lazy_pattern(
    r"\b(Epoch|Iter)(?:\((train|val|test)\))?\s{1,8}(?:\[\s{0,8}(\d{1,9})\])?"
    r"\[\s{0,12}(\d{1,12})/(\d{1,12})\]\s"
)
_EVALUATED = lazy_pattern(r"\b(?:Epoch|Iter)\(val\) \[(\d{1,12})\](?:\[\d{1,12}\])?\s")
_ETA = lazy_pattern(rf"\beta: ({SPAN})")
_TIME = lazy_pattern(rf"\btime: ({NUMBER})")
_SAVE = lazy_pattern(r"\bSaving checkpoint at (\d{1,12}) (epochs|iterations)")
_MAX = lazy_pattern(
    r"\bworkflow: \[.{1,200}\], max: (\d{1,12}) (epochs|iters)"
    r"|\b(?:train_cfg|runner) = dict\(.{0,200}?\bmax_(epochs|iters)=(\d{1,12})"
)
_NO_METRICS = frozenset({"time", "memory", "epoch", "iter", "eta"})


class MMEngine:
    name = "mmengine"
    hints = ("epoch(", "iter(", "epoch [", "iter [", "saving checkpoint at", "workflow: ", "dict(")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        return _counted(text) or _evaluated(text) or _saving(text) or _announced(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "2022/08/20 03:30:07 - mmengine - INFO - Epoch(train)   [3][  50/7330]  base_lr:"
            " 2.0000e-02 lr: 1.0e-02  eta: 1 day, 2:03:04  time: 0.4000  data_time: 0.0100"
            "  memory: 3456  grad_norm: 4.5  loss: 1.25  loss_cls: 0.5",
            Sighting(
                unit="step",
                current=50,
                total=7330,
                series="train",
                epoch=3,
                per_epoch=True,
                rate_per_s=1 / 0.4,
                eta_s=93784,
                metrics={
                    "base_lr": 0.02,
                    "lr": 0.01,
                    "grad_norm": 4.5,
                    "loss": 1.25,
                    "loss_cls": 0.5,
                },
            ),
        ),
        Sample(
            "2022/08/20 03:30:07 - mmengine - INFO - Iter(train) [  100/80000]  lr: 1.0e-02"
            "  eta: 5:33:20  time: 0.2500  data_time: 0.0100  loss: 2.5",
            Sighting(
                unit="step",
                current=100,
                total=80000,
                series="train",
                rate_per_s=4,
                eta_s=20000,
                metrics={"lr": 0.01, "loss": 2.5},
            ),
        ),
        Sample(
            "2022/08/20 03:30:07 - mmengine - INFO - Epoch(val)   [3][100/500]    eta: 0:00:40"
            "  time: 0.1000  data_time: 0.0010  memory: 512",
            Sighting(
                unit="step",
                current=100,
                total=500,
                series="val",
                epoch=3,
                per_epoch=True,
                rate_per_s=10,
                phase="evaluating",
            ),
        ),
        Sample(
            "2022/08/20 03:30:07 - mmengine - INFO - Epoch(val) [3][500/500]    coco/bbox_mAP:"
            " 0.3750  data_time: 0.0010  time: 0.1000",
            Sighting(
                unit="step",
                current=500,
                total=500,
                series="val",
                epoch=3,
                per_epoch=True,
                rate_per_s=10,
                metrics={"val_coco/bbox_map": 0.375},
                phase="evaluating",
            ),
        ),
        # after the older mmcv
        Sample(
            "2021-01-01 12:00:00,000 - mmdet - INFO - Epoch [3][50/7330]\tlr: 1.000e-02,"
            " eta: 2:03:04, time: 0.500, data_time: 0.010, memory: 3456, loss: 1.25",
            Sighting(
                unit="step",
                current=50,
                total=7330,
                series="train",
                epoch=3,
                per_epoch=True,
                rate_per_s=2,
                eta_s=7384,
                metrics={"lr": 0.01, "loss": 1.25},
            ),
        ),
        Sample(
            "2021-01-01 12:00:00,000 - mmseg - INFO - Iter [50/80000]\tlr: 1.000e-02,"
            " eta: 2:03:04, time: 0.500, data_time: 0.010, memory: 3456, loss: 1.25",
            Sighting(
                unit="step",
                current=50,
                total=80000,
                series="train",
                rate_per_s=2,
                eta_s=7384,
                metrics={"lr": 0.01, "loss": 1.25},
            ),
        ),
        Sample(
            "2021-01-01 12:00:00,000 - mmdet - INFO - Epoch(val) [3][625]\tbbox_mAP: 0.375",
            Sighting(epoch=3, metrics={"val_bbox_map": 0.375}),
        ),
        Sample(
            "2022/08/20 03:30:07 - mmengine - INFO - Saving checkpoint at 3 epochs",
            Sighting(checkpoint=Checkpoint(), phase="checkpointing"),
        ),
        Sample(
            "2022/08/20 03:30:07 - mmengine - INFO - Saving checkpoint at 16000 iterations",
            Sighting(checkpoint=Checkpoint(step=16000), phase="checkpointing"),
        ),
        Sample(
            "2021-01-01 12:00:00,000 - mmdet - INFO - workflow: [('train', 1)], max: 12 epochs",
            Sighting(unit="epoch", total=12),
        ),
        Sample(
            "train_cfg = dict(max_iters=80000, type='IterBasedTrainLoop', val_interval=8000)",
            Sighting(unit="step", total=80000),
        ),
        Sample("Epoch [3/12] loss: 1.25", None),
        Sample("Epoch [3][7331/7330]\tlr: 1.0e-02, time: 0.5", None),
        Sample("Epoch(train) [3][50/7330]", None),
        Sample("train_cfg = dict(type='EpochBasedTrainLoop')", None),
        Sample("Iter(train) [" + " " * 60_000 + "1/2] ", None),
        Sample("workflow: [" + "]" * 60_000, None),
    )


def _counted(text: str) -> Sighting | None:
    found = _HEAD.search(text)
    count = None if found is None else counted(found[4], found[5])
    if found is None or count is None:
        return None
    rest = text[found.end() :]
    time, auxiliary = _TIME.search(rest), found[2] in ("val", "test")
    mean_iteration = found[1] == "Iter" or found[3] is not None
    if time is None or not (mean_iteration or auxiliary):
        return None
    phase: Phase | None = "evaluating" if auxiliary else None
    eta = None if auxiliary else _ETA.search(rest)  # of an evaluation it is not the run's
    metrics = metrics_in(rest, without=_NO_METRICS)
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series=found[2] or "train",
        epoch=float(found[3]) if found[3] else None,
        per_epoch=found[3] is not None,
        rate_per_s=rate_of(float(time[1])),
        eta_s=None if eta is None else span_seconds(eta[1]),
        metrics={f"{found[2]}_{name}": one for name, one in metrics.items()}
        if auxiliary
        else metrics,
        phase=phase,
    )


def _evaluated(text: str) -> Sighting | None:
    """mmcv's results of a validation."""
    found = _EVALUATED.search(text)
    metrics = {} if found is None else metrics_in(text[found.end() :], without=_NO_METRICS)
    if found is None or not metrics:
        return None
    return Sighting(
        epoch=float(found[1]) if "Epoch" in found[0] else None,
        metrics={f"val_{name}": one for name, one in metrics.items()},
    )


def _saving(text: str) -> Sighting | None:
    found = _SAVE.search(text)
    if found is None:
        return None
    step = int(found[1]) if found[2] == "iterations" else None
    return Sighting(checkpoint=Checkpoint(step=step), phase="checkpointing")


def _announced(text: str) -> Sighting | None:
    found = _MAX.search(text[:1000])
    if found is None:
        return None
    total, unit = float(found[1] or found[4]), found[2] or found[3]
    counts: Unit = "epoch" if unit == "epochs" else "step"
    return Sighting(unit=counts, total=total) if 0 < total < MAX_COUNT else None

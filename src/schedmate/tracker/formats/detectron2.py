"""detectron2 and maskrcnn-benchmark: ` eta: 1:02:03  iter: 1999  total_loss: 1.2  ...`."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint
from schedmate.tracker.formats.base import (
    MAX_COUNT,
    NUMBER,
    SPAN,
    Sample,
    Sighting,
    metrics_in,
    rate_of,
    span_seconds,
)

_MAX_LENGTH = 4096
_ITER = lazy_pattern(rf"(?:\beta: ({SPAN})  )?\biter: (\d{{1,12}})  (?=\w)")
_TIME = lazy_pattern(rf"(?:^|\s)time: ({NUMBER})")
_MAX_ITER = lazy_pattern(r"MAX_ITER: (\d{1,12})")
_START = lazy_pattern(r"\bStarting training from iteration (\d{1,12})\b")
_SAVE = lazy_pattern(r"\bSaving checkpoint to (\S{1,400}model_(\d{7,9})\.pth)")
_DONE = lazy_pattern(rf"\bTotal training time: ({SPAN})(?:\.\d{{1,9}})? \(")
_NO_METRICS = frozenset({"time", "iter", "eta", "data", "mem", "max_mem"})


class Detectron2:
    name = "detectron2"
    hints = (
        "iter: ",
        "max_iter: ",
        "starting training from iteration",
        "saving checkpoint to",
        "total training time: ",
    )

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        if "iter: " in text:
            return _iteration(text)
        return _announced(text) or _saving(text) or _done(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "[01/01 12:00:00 d2.utils.events]:  eta: 1:02:03  iter: 1999  total_loss: 1.25"
            "  loss_cls: 0.5  loss_box_reg: 0.75    time: 0.2500  last_time: 0.2400"
            "  data_time: 0.0100  last_data_time: 0.0090   lr: 0.02  max_mem: 2345M",
            Sighting(
                unit="step",
                current=1999,
                series="iter",
                rate_per_s=4,
                eta_s=3723,
                metrics={"total_loss": 1.25, "loss_cls": 0.5, "loss_box_reg": 0.75, "lr": 0.02},
            ),
        ),
        Sample(
            "[01/01 12:00:00 d2.utils.events]:  iter: 0  total_loss: 6.5  lr: 2e-05  max_mem: 9M",
            Sighting(
                unit="step",
                current=0,
                series="iter",
                metrics={"total_loss": 6.5, "lr": 2e-05},
            ),
        ),
        # after maskrcnn-benchmark
        Sample(
            "2019-01-01 12:00:00,000 maskrcnn_benchmark.trainer INFO: eta: 1 day, 2:03:04"
            "  iter: 20  loss: 1.25 (1.50)  loss_mask: 0.5 (0.6)  time: 0.5000 (0.6)"
            "  data: 0.01 (0.02)  lr: 0.002  max mem: 3456",
            Sighting(
                unit="step",
                current=20,
                series="iter",
                rate_per_s=2,
                eta_s=93784,
                metrics={"loss": 1.25, "loss_mask": 0.5, "lr": 0.002},
            ),
        ),
        Sample("  MAX_ITER: 90000", Sighting(unit="step", total=90000)),
        Sample(
            "[01/01 12:00:00 d2.engine.train_loop]: Starting training from iteration 500",
            Sighting(phase="training"),
        ),
        Sample(
            "[01/01 12:00:00 fvcore.common.checkpoint]: Saving checkpoint to"
            " ./output/model_0004999.pth",
            Sighting(
                checkpoint=Checkpoint(path="./output/model_0004999.pth", step=4999),
                phase="checkpointing",
            ),
        ),
        Sample(
            "[01/01 12:00:00 d2.engine.hooks]: Total training time: 6:20:00 (0:05:00 on hooks)",
            Sighting(phase="finished", elapsed_s=22800),
        ),
        Sample(
            "maskrcnn_benchmark.trainer INFO: Total training time: 1:30:57.136529 (0.1364 s / it)",
            Sighting(phase="finished", elapsed_s=5457),
        ),
        Sample("iter: 5, loss: 1e-3", None),
        Sample("iter: 20  of the day", None),
        Sample("MAX_ITER: none", None),
        Sample("Total training time: long (very)", None),
        Sample("eta: " * 10_000 + "iter: 1", None),
    )


def _iteration(text: str) -> Sighting | None:
    found = _ITER.search(text)
    rest = "" if found is None else text[found.end() :]
    if found is None or not ("lr: " in rest and "loss" in rest):
        return None
    time = _TIME.search(rest)
    return Sighting(
        unit="step",
        current=float(found[2]),
        series="iter",
        rate_per_s=None if time is None else rate_of(float(time[1])),
        eta_s=span_seconds(found[1]) if found[1] else None,
        metrics=metrics_in(rest, without=_NO_METRICS),
    )


def _announced(text: str) -> Sighting | None:
    found = _MAX_ITER.fullmatch(text.strip())
    if found is not None:
        total = float(found[1])
        return Sighting(unit="step", total=total) if 0 < total < MAX_COUNT else None
    return Sighting(phase="training") if _START.search(text) else None


def _saving(text: str) -> Sighting | None:
    found = _SAVE.search(text)
    if found is None:
        return None
    return Sighting(checkpoint=Checkpoint(path=found[1], step=int(found[2])), phase="checkpointing")


def _done(text: str) -> Sighting | None:
    found = _DONE.search(text)
    return None if found is None else Sighting(phase="finished", elapsed_s=span_seconds(found[1]))

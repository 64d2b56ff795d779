"""ESPnet: `3/50epoch started` and, in between, what a range of batches of an epoch gave."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting, counted, metrics_in

_MAX_LENGTH = 4096
_STARTED = lazy_pattern(r"(?<!\S)(\d{1,9})/(\d{1,9})epoch started")
_BATCHES = lazy_pattern(r"(?<!\S)(\d{1,9})epoch:(train|valid):(\d{1,12})-(\d{1,12})batch: ")
_NO_METRICS = frozenset({"time", "iter_time", "train_time"})


class EspNet:
    name = "espnet"
    hints = ("epoch:train:", "epoch:valid:", "epoch started")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        started = _STARTED.search(text)
        counts = None if started is None else counted(started[1], started[2])
        if counts is not None:
            return Sighting(
                unit="epoch",
                current=counts[0],
                total=counts[1],
                series="epoch",
                ordinal="begun",
                epoch=counts[0],
                epochs=counts[1],
            )
        return _of_batches(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "[gpu1] 2024-01-01 12:00:00,000 (trainer:272) INFO: 3/50epoch started. "
            "Estimated time to finish: 2 hours, 1 minute and 5.1 seconds",
            Sighting(
                unit="epoch",
                current=3,
                total=50,
                series="epoch",
                ordinal="begun",
                epoch=3,
                epochs=50,
            ),
        ),
        Sample(
            "(trainer:732) INFO: 3epoch:train:1951-2000batch: iter_time=1.3e-04, loss_ctc=40.5, "
            "acc=0.5, loss=1.3, optim0_lr0=0.002, train_time=0.6",
            Sighting(
                epoch=3, metrics={"loss_ctc": 40.5, "acc": 0.5, "loss": 1.3, "optim0_lr0": 0.002}
            ),
        ),
        Sample("51/50epoch started", None),
        Sample("epoch started", None),
        Sample("epoch:train:" * 500, None),
    )


def _of_batches(text: str) -> Sighting | None:
    found = _BATCHES.search(text)
    if found is None:
        return None
    metrics = metrics_in(text[found.end() :], without=_NO_METRICS)
    return Sighting(epoch=float(found[1]), metrics=metrics)

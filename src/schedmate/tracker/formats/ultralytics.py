"""YOLO of Ultralytics: a row of losses before a bar, drawn by tqdm or by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import (
    MAX_COUNT,
    NUMBER,
    Sample,
    Sighting,
    clock_seconds,
    counted,
    rate_of,
)
from schedmate.tracker.formats.tqdm import Tqdm

_MAX_LENGTH = 2048
_ROW = lazy_pattern(
    r"\s{0,12}(\d{1,9})/(\d{1,9})\s{1,12}[\d.]{1,12}[KMGT]?"
    rf"((?:\s{{1,12}}(?:{NUMBER})){{1,12}}?)\s{{1,12}}\d{{1,9}}\s{{1,12}}\d{{1,6}}:"
    r"\s{1,4}(\d{1,3})%(?:\|| [━─╸])"
)
_RESULTS = lazy_pattern(r"\s{0,30}Class\s{1,20}Images\s{1,20}(?:Instances|Labels)\s")
_OWN_BAR = lazy_pattern(
    r"% [━─╸]{1,40} (\d{1,12})/(\d{1,12})"
    r"(?: (\d{1,9}(?:\.\d{1,6})?)([KMG]?)(?:it)?(/s|s/it))?"
    r" (?:(\d{1,6}(?:\.\d)?)s|(\d{1,6}(?::\d{2}){1,2}))(?:<|\s|$)"
)
_ALL = lazy_pattern(
    rf"all {{5,20}}\d{{1,12}}\s{{1,20}}\d{{1,12}}((?:\s{{1,20}}(?:{NUMBER})){{4}})$"
)
_ALL_NAMES = ("precision", "recall", "map50", "map50-95")
_SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_START = lazy_pattern(r"\bStarting training for (\d{1,9}(?:\.\d{1,9})?) (epochs|hours)\.\.\.")
_DONE = lazy_pattern(r"(\d{1,9}) epochs completed in (\d{1,9}\.\d{1,6}) hours\.")
_STOPPED = (
    "Training stopped early as no improvement observed",
    "Stopping training early as no improvement observed",
)
_BAR = Tqdm()


class Ultralytics:
    name = "ultralytics"
    hints = (
        "% ━",
        "% ─",
        "% ╸",
        "%|",
        "all     ",
        "starting training for ",
        " epochs completed in ",
        "early as no improvement",
    )

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH].rstrip()
        row = _ROW.match(text)
        if row is not None or _RESULTS.match(text):
            return _bar(text, row)
        return _measured(text.lstrip()) or _sentence(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        # after its format strings
        Sample(
            "      3/100      2.15G      1.203     0.9012      1.105         45        640:"
            "  50%|█████     | 4/8 [00:02<00:02,  1.60it/s]",
            Sighting(
                unit="step",
                current=4,
                total=8,
                series="train",
                epoch=3,
                epochs=100,
                per_epoch=True,
                elapsed_s=2,
                rate_per_s=1.6,
                metrics={"box_loss": 1.203},
            ),
        ),
        Sample(
            "      3/100      2.15G     0.6931         45        224: 100% ━━━━━━━━━━━━ 8/8"
            " 3.2it/s 2.5s",
            Sighting(
                unit="step",
                current=8,
                total=8,
                series="train",
                epoch=3,
                epochs=100,
                per_epoch=True,
                elapsed_s=2.5,
                rate_per_s=3.2,
                metrics={"loss": 0.6931},
            ),
        ),
        Sample(
            "      1/5         0G      1.203     0.9012      1.105         45        640: 25%"
            " ━━━───────── 2/8 1.1s/it 1:02<0:06",
            Sighting(
                unit="step",
                current=2,
                total=8,
                series="train",
                epoch=1,
                epochs=5,
                per_epoch=True,
                elapsed_s=62,
                rate_per_s=1 / 1.1,
                metrics={"box_loss": 1.203},
            ),
        ),
        Sample(
            "      13/30      13.1G      1.822      21.96     0.5235          9        576: 100%|█",
            Sighting(
                unit="epoch",
                current=13,
                total=30,
                series="epochs",
                ordinal="ended",
                epoch=13,
                epochs=30,
                metrics={"box_loss": 1.822},
            ),
        ),
        Sample(
            "                 Class     Images  Instances      Box(P          R      mAP50"
            "  mAP50-95): 100%|██████████| 4/4 [00:01<00:00,  3.10it/s]",
            Sighting(
                unit="step",
                current=4,
                total=4,
                series="val",
                elapsed_s=1,
                rate_per_s=3.1,
                phase="evaluating",
            ),
        ),
        Sample(
            "                   all        128        929      0.640      0.537      0.605"
            "      0.446",
            Sighting(
                metrics={"precision": 0.64, "recall": 0.537, "map50": 0.605, "map50-95": 0.446}
            ),
        ),
        Sample("Starting training for 100 epochs...", Sighting(unit="epoch", total=100)),
        Sample("Starting training for 0.5 hours...", Sighting(cap_s=1800)),
        Sample(
            "100 epochs completed in 0.250 hours.",
            Sighting(phase="finished", elapsed_s=900),
        ),
        Sample(
            "EarlyStopping: Training stopped early as no improvement observed in last 50 epochs."
            " Best results observed at epoch 12, best model saved as best.pt.",
            Sighting(ended_by="early_stop"),
        ),
        Sample("      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size", None),
        Sample("Epoch 3/100:  50%|█████     | 4/8 [00:02<00:02,  1.60it/s]", None),
        Sample("101/100 2.15G 1.2 45 640: 100% ━━━━━━━━━━━━ 9/8 3.2it/s 2.5s", None),
        Sample("all the 3 of them", None),
        Sample("Starting training for 0 epochs...", None),
        Sample("3/100 2G" + " 1" * 20_000, None),
        Sample("Class Images Instances " + "━" * 60_000, None),
    )


def _bar(text: str, row: re.Match[str] | None) -> Sighting | None:
    bar = _BAR.read(text) if "%|" in text else _own_bar(text)
    if row is None:
        return bar and replace(bar, series="val", phase="evaluating")
    if bar is None:
        return _cut(row)
    return replace(
        bar,
        series="train",
        epoch=float(row[1]),
        epochs=float(row[2]),
        per_epoch=True,
        metrics=_losses(row[3].split()),
        phase=None,
    )


def _cut(row: re.Match[str]) -> Sighting | None:
    """A row whose bar did not fit the terminal still names its epoch."""
    count = counted(row[1], row[2])
    return count and Sighting(
        unit="epoch",
        current=count[0],
        total=count[1],
        series="epochs",
        ordinal="ended" if row[4] == "100" else "begun",
        epoch=count[0],
        epochs=count[1],
        metrics=_losses(row[3].split()),
    )


def _losses(values: list[str]) -> dict[str, float]:
    """The first of several is the boxes' in every task; the names of others stand elsewhere."""
    return {"loss" if len(values) == 1 else "box_loss": float(values[0])}


def _own_bar(text: str) -> Sighting | None:
    found = _OWN_BAR.search(text)
    count = None if found is None else counted(found[1], found[2])
    if found is None or count is None:
        return None
    printed = float(found[3]) * _SCALES[found[4]] if found[3] else 0.0
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        elapsed_s=float(found[6]) if found[6] else clock_seconds(found[7]),
        rate_per_s=rate_of(printed) if found[5] == "s/it" else printed or None,
    )


def _measured(text: str) -> Sighting | None:
    found = _ALL.match(text)
    if found is None:
        return None
    values = map(float, found[1].split())
    return Sighting(metrics=dict(zip(_ALL_NAMES, values, strict=True)))


def _sentence(text: str) -> Sighting | None:
    start, done = _START.search(text), _DONE.search(text)
    if start is not None:
        number = float(start[1])
        if not 0 < number < MAX_COUNT:
            return None
        hours = start[2] == "hours"
        return Sighting(cap_s=number * 3600) if hours else Sighting(unit="epoch", total=number)
    if any(words in text for words in _STOPPED):
        return Sighting(ended_by="early_stop")
    return None if done is None else Sighting(phase="finished", elapsed_s=float(done[2]) * 3600)

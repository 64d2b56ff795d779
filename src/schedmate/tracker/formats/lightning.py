"""Lightning's bars, plain or by rich, and the sentence with which its Trainer stops."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Phase
from schedmate.tracker.formats.bars import read_bar
from schedmate.tracker.formats.base import Sample, Sighting, clock_seconds, counted, metrics_in

_MAX_LENGTH = 4096
_BAR = lazy_pattern(
    r"(?P<name>Epoch (?P<epoch>\d{1,9})|Training(?=: \|)|Sanity Checking(?: DataLoader \d{1,4})?"
    r"|(?:Validation|Testing|Predicting) DataLoader \d{1,4}|Validating|Validation sanity check)"
    r": {0,4}(?:\d{1,3}%)?\|"
)
_RICH = lazy_pattern(
    r"(?P<name>Epoch (?P<epoch>\d{1,9})(?:/(?P<last>\d{1,9}|-2))?"
    r"|Validation|Testing|Sanity Checking)"
    r" {1,3}[━╸╺]{1,200} {1,3}(?P<current>\d{1,12})/(?P<total>\d{1,12}) (?P<time>[\d:]{4,20}) •"
    r" (?:[\d:]{4,20}|-:--:--) (?P<rate>\d{1,9}\.\d{1,4})it/s"
)
_STOPPED = lazy_pattern(r"`Trainer\.fit` stopped: `max_(?:epochs|steps)=\d{1,15}` reached\.")


class Lightning:
    name = "lightning"
    hints = (
        "epoch ", "training: |", "dataloader ", "sanity check", "validati", "testing ",
        "`trainer.fit`",
    )  # fmt: skip

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH].strip()
        if text.startswith("`Trainer.fit`"):
            stopped = _STOPPED.match(text)
            return Sighting(phase="finished", ended_by="total") if stopped else None
        bar = _BAR.match(text)
        if bar is not None:
            return _drawn(text, bar)
        rich = _RICH.match(text)
        return None if rich is None else _rich(text, rich)

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of lightning 2.6.6, really run
        Sample(
            "Epoch 0:  50%|█████     | 8/16 [00:01<00:01,  7.79it/s, train_loss=0.300]",
            Sighting(
                unit="step",
                current=8,
                total=16,
                series="Epoch #",
                epoch=0,
                per_epoch=True,
                elapsed_s=1,
                rate_per_s=7.79,
                metrics={"train_loss": 0.3},
            ),
        ),
        Sample(
            "Epoch 0:   0%|          | 0/16 [00:00<?, ?it/s, train_loss=0.0784]",
            Sighting(
                unit="step",
                total=16,
                series="Epoch #",
                per_epoch=True,
                metrics={"train_loss": 0.0784},
            ),
        ),
        Sample(
            "Sanity Checking DataLoader 0:  50%|█████     | 1/2 [00:00<00:00, 54.42it/s]",
            Sighting(
                unit="step",
                current=1,
                total=2,
                series="Sanity Checking DataLoader #",
                elapsed_s=0,
                rate_per_s=54.42,
                phase="starting",
            ),
        ),
        Sample(
            "Validation DataLoader 0: 100%|██████████| 3/3 [00:00<00:00, 412.65it/s]",
            Sighting(
                unit="step",
                current=3,
                total=3,
                series="Validation DataLoader #",
                elapsed_s=0,
                rate_per_s=412.65,
                phase="evaluating",
            ),
        ),
        Sample("Training: |          | 0/? [00:00<?, ?it/s]", Sighting(phase="training")),
        Sample("Sanity Checking: |          | 0/? [00:00<?, ?it/s]", Sighting(phase="starting")),
        Sample(
            "Epoch 2/2  ━━━━━━━━━━━━━━ 16/16 0:00:02 • 0:00:00 7.93it/s train_loss: 0.060",
            Sighting(
                unit="step",
                current=16,
                total=16,
                series="Epoch",
                epoch=2,
                epochs=3,
                per_epoch=True,
                elapsed_s=2,
                rate_per_s=7.93,
                metrics={"train_loss": 0.060},
            ),
        ),
        Sample(
            "`Trainer.fit` stopped: `max_epochs=3` reached.",
            Sighting(phase="finished", ended_by="total"),
        ),
        # after its source: data of unknown length
        Sample(
            "Epoch 1: |          | 5/? [00:01<00:00,  4.90it/s, v_num=0]",
            Sighting(
                unit="step",
                current=5,
                series="Epoch #",
                epoch=1,
                per_epoch=True,
                elapsed_s=1,
                rate_per_s=4.90,
            ),
        ),
        Sample("Epoch 1/3:  50%|█████     | 8/16 [00:01<00:01,  7.79it/s]", None),
        Sample("Epoch 0:  50%|█████     | 17/16 [00:01<00:01,  7.79it/s]", None),
        Sample("`Trainer.fit` was called", None),
        Sample("Epoch 2/2  " + "━" * 60_000, None),
        Sample("Epoch 0:   0%|\x00\ufffd", None),
    )


def _drawn(text: str, bar: re.Match[str]) -> Sighting | None:
    """A bar at 0 is the next epoch's under the old epoch's name: only its total is confidence."""
    seen = read_bar(text)
    if seen is None:
        return None
    if seen.current == 0 and bar["epoch"] is not None:
        return _announced(seen)
    if seen.current == 0 and seen.total is None:
        return Sighting(phase=_phase(bar["name"]) or "training")
    return replace(seen, phase=_phase(bar["name"]))


def _announced(seen: Sighting) -> Sighting:
    return Sighting(
        unit=seen.unit,
        total=seen.total,
        series=seen.series,
        per_epoch=seen.total is not None,
        metrics=seen.metrics,
    )


def _rich(text: str, found: re.Match[str]) -> Sighting | None:
    count = counted(found["current"], found["total"])
    if count is None:
        return None
    epoch = None if found["epoch"] is None else float(found["epoch"])
    last = found["last"]
    rate = float(found["rate"])
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="Epoch" if epoch is not None else found["name"],
        epoch=epoch,
        epochs=float(last) + 1 if last and last != "-2" and epoch is not None else None,
        per_epoch=epoch is not None,
        elapsed_s=clock_seconds(found["time"]),
        rate_per_s=rate if rate > 0 else None,
        metrics=metrics_in(text[found.end() :], without=frozenset({"v_num"})),
        phase=_phase(found["name"]),
    )


def _phase(name: str) -> Phase | None:
    if "anity" in name:
        return "starting"
    return None if name.startswith(("Epoch", "Training")) else "evaluating"

"""torchtune: a bar for each epoch with `epoch|step|Loss` before it, and its metric log."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, metrics_in
from schedmate.tracker.formats.tqdm import Tqdm

_MAX_LENGTH = 2048
_BAR = lazy_pattern(rf"(\d{{1,9}})\|(\d{{1,12}})\|Loss: ({NUMBER}):(?=.{{0,9}}%\|)")
_LOG = lazy_pattern(rf"Step (\d{{1,12}}) \| ((?:[\w/.-]{{1,60}}:(?:{NUMBER})(?: |$)){{1,40}})")
_TQDM = Tqdm()
_TOKENS = "tokens_per_second_per_gpu"


class TorchTune:
    name = "torchtune"
    hints = ("|loss: ", "step ")

    def read(self, line: str) -> Sighting | None:
        text = line[:_MAX_LENGTH]
        bar = _BAR.match(text)
        if bar is not None:
            return _of_bar(bar, text)
        log = _LOG.fullmatch(text)
        return None if log is None else _of_log(log)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "1|23|Loss: 1.2345678:  45%|████▌     | 23/51 [00:46<00:56,  2.00s/it]",
            Sighting(
                unit="step",
                current=23,
                total=51,
                series="epoch|step|Loss",
                epoch=1,
                per_epoch=True,
                elapsed_s=46,
                rate_per_s=0.5,
                metrics={"loss": 1.2345678},
            ),
        ),
        Sample(
            "Step 23 | loss:1.25 lr:2e-05 tokens_per_second_per_gpu:123.5",
            Sighting(
                unit="step",
                current=23,
                series="Step",
                metrics={"loss": 1.25, "lr": 2e-05, "tokens_per_s_per_device": 123.5},
            ),
        ),
        Sample("1|23|Loss: 1.2:", None),
        Sample("1|23|Loss: nothing:  45%|███| 23/51 [00:46<00:56,  2.00s/it]", None),
        Sample("Step 23 | loss", None),
        Sample("Step 1 | " + "a:1 " * 20_000, None),
    )


def _of_bar(bar: re.Match[str], text: str) -> Sighting | None:
    seen = _TQDM.read(text[bar.end() :].strip())
    if seen is None:
        return None
    loss = {"loss": float(bar[3])}
    return replace(
        seen, series="epoch|step|Loss", epoch=float(bar[1]), per_epoch=True, metrics=loss
    )


def _of_log(log: re.Match[str]) -> Sighting:
    metrics = metrics_in(log[2])
    if _TOKENS in metrics:
        metrics["tokens_per_s_per_device"] = metrics.pop(_TOKENS)
    return Sighting(unit="step", current=float(log[1]), series="Step", metrics=metrics)

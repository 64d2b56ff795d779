"""The dicts that the transformers Trainer prints: releases before 5 bare, later ones quoted."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import MAX_COUNT, NUMBER, Sample, Sighting

_MAX_LENGTH = 8192
_ITEM = lazy_pattern(rf"'([\w./@-]{{1,64}})': '?({NUMBER})'?(?=[,}}])")
_MARKS = ("'loss'", "'eval_", "'train_runtime'", "'learning_rate'")


class Transformers:
    name = "transformers"
    hints = ("{'",)

    def read(self, line: str) -> Sighting | None:
        if not line.startswith("{'") or not line.endswith("}") or len(line) > _MAX_LENGTH:
            return None
        if not any(mark in line for mark in _MARKS):
            return None
        values = {name: float(value) for name, value in _ITEM.findall(line)}
        epoch = values.pop("epoch", None)
        if epoch is None or not 0 <= epoch < float("inf"):
            return None
        return _sighting(values, epoch)

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of transformers 5.22.2, really run
        Sample(
            "{'loss': '1.318', 'grad_norm': '1.756', 'learning_rate': '4.375e-05', 'epoch': '0.5'}",
            Sighting(
                unit="epoch",
                current=0.5,
                epoch=0.5,
                metrics={"loss": 1.318, "grad_norm": 1.756, "learning_rate": 4.375e-05},
            ),
        ),
        Sample(
            "{'eval_loss': '0.7796', 'eval_runtime': '0.0069', 'epoch': '1'}",
            Sighting(
                unit="epoch",
                current=1,
                epoch=1,
                metrics={"eval_loss": 0.7796, "eval_runtime": 0.0069},
            ),
        ),
        Sample(
            "{'train_runtime': '0.1828', 'train_steps_per_second': '131.3', 'epoch': '3'}",
            Sighting(
                unit="epoch",
                current=3,
                epoch=3,
                elapsed_s=0.1828,
                metrics={"train_runtime": 0.1828, "train_steps_per_second": 131.3},
                phase="finished",
            ),
        ),
        # after the documented format of earlier releases
        Sample(
            "{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.12}",
            Sighting(
                unit="epoch",
                current=0.12,
                epoch=0.12,
                metrics={"loss": 0.5, "grad_norm": 1.2, "learning_rate": 5e-05},
            ),
        ),
        Sample(
            "{'train_runtime': '-1', 'epoch': '3'}",
            Sighting(
                unit="epoch",
                current=3,
                epoch=3,
                metrics={"train_runtime": -1.0},
                phase="finished",
            ),
        ),
        Sample(
            "{'train_runtime': 'inf', 'epoch': '3'}",
            Sighting(
                unit="epoch",
                current=3,
                epoch=3,
                metrics={"train_runtime": float("inf")},
                phase="finished",
            ),
        ),
        Sample("{'loss': 0.5, 'learning_rate': 5e-05}", None),
        Sample("{'epoch': 3}", None),
        Sample("{'loss': 0.5, 'epoch': inf}", None),
        Sample("{'loss': " + "9" * 9000 + ", 'epoch': 1}", None),
        Sample("{'loss': 0.5, 'epoch': 1", None),
    )


def _sighting(values: dict[str, float], epoch: float) -> Sighting:
    runtime = values.get("train_runtime")
    usable = runtime is not None and 0 <= runtime < MAX_COUNT
    return Sighting(
        unit="epoch",
        current=epoch,
        epoch=epoch,
        elapsed_s=runtime if usable else None,
        metrics=values,
        phase=None if runtime is None else "finished",
    )

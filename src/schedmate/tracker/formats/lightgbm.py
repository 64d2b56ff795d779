"""LightGBM's evaluation lines: the round, counted from 1, and each set's metrics."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting

_MAX_LENGTH = 4096
_ROUND = lazy_pattern(r"(?:\[LightGBM\] \[Info\] )?\[(\d{1,9})\]\t(?=[^\t]{1,80}: )")
_ITERATION = lazy_pattern(r"(?:\[LightGBM\] \[Info\] )?Iteration:(\d{1,9}), (?=[^\t]{1,100} : )")
_METRIC = lazy_pattern(rf"([^\t:,]{{1,80}}?) ?: ({NUMBER})(?=[\s,]|$)")
_COMPLETE = "Did not meet early stopping."


class LightGBM:
    name = "lightgbm"
    hints = ("]\t", "iteration:", "did not meet early")

    def read(self, line: str) -> Sighting | None:
        if line.startswith(_COMPLETE):
            return Sighting(phase="finished", ended_by="total")
        found = _ROUND.match(line) or _ITERATION.match(line)
        if found is None or len(line) > _MAX_LENGTH:
            return None
        pairs = (_METRIC.match(part) for part in line[found.end() :].split("\t"))
        metrics = {_name(pair[1]): float(pair[2]) for pair in pairs if pair is not None}
        if not metrics:
            return None
        return Sighting(unit="step", current=float(found[1]), series="round", metrics=metrics)

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of lightgbm 4.7.0, really run
        Sample(
            "[10]\tvalid_1's l2: 1.00683",
            Sighting(unit="step", current=10, series="round", metrics={"valid_1_l2": 1.00683}),
        ),
        Sample(
            "[100]\ttraining's l2: 0.1\tvalid_1's l2: 0.2",
            Sighting(
                unit="step",
                current=100,
                series="round",
                metrics={"training_l2": 0.1, "valid_1_l2": 0.2},
            ),
        ),
        # after the documented format: lightgbm.cv, the command line program, early stopping
        Sample(
            "[20]\tcv_agg's valid l2: 0.25 + 0.01",
            Sighting(unit="step", current=20, series="round", metrics={"cv_agg_valid_l2": 0.25}),
        ),
        Sample(
            "[LightGBM] [Info] Iteration:7, valid_1 auc : 0.812",
            Sighting(unit="step", current=7, series="round", metrics={"valid_1_auc": 0.812}),
        ),
        Sample(
            "Did not meet early stopping. Best iteration is:",
            Sighting(phase="finished", ended_by="total"),
        ),
        Sample("[10]\ttrain-rmse:0.89749", None),
        Sample("[LightGBM] [Info] Total Bins 549", None),
        Sample("[10]\tnothing said: yet", None),
        Sample("[1]\t" + "a's " * 20_000, None),
        Sample("[1]\t\x00\ufffd", None),
    )


def _name(printed: str) -> str:
    return printed.strip().lower().replace("'s ", "_").replace(" ", "_")

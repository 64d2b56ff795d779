"""XGBoost's evaluation lines: the round, counted from 0, and each set's metrics."""

from __future__ import annotations

from typing import ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import NUMBER, Sample, Sighting, metric_name

_MAX_LENGTH = 4096
_PAIR = rf"[\w./@-]{{1,80}}-[\w.@-]{{1,60}}:(?:{NUMBER})(?:\+(?:{NUMBER}))?"
_LINE = lazy_pattern(
    rf"(?:\[\d\d:\d\d:\d\d\] )?\[(\d{{1,9}})\](?P<pairs>(?:[\t ]{{1,4}}{_PAIR}){{1,64}})"
)
_METRIC = lazy_pattern(rf"([^\s:]{{1,150}}):({NUMBER})")
_STOPPED = "Stopping. Best iteration:"


class XGBoost:
    name = "xgboost"
    hints = ("]\t", "] ", "best iteration")

    def read(self, line: str) -> Sighting | None:
        if line.startswith(_STOPPED):
            return Sighting(phase="finished", ended_by="early_stop")
        found = _LINE.fullmatch(line) if len(line) <= _MAX_LENGTH else None
        if found is None:
            return None
        pairs = _METRIC.findall(found["pairs"])
        return Sighting(
            unit="step",
            current=float(found[1]) + 1,
            series="round",
            metrics={metric_name(name): float(value) for name, value in pairs},
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of xgboost 3.2.0, really run
        Sample(
            "[0]\ttrain-rmse:1.03834\tvalid-rmse:1.03834",
            Sighting(
                unit="step",
                current=1,
                series="round",
                metrics={"train-rmse": 1.03834, "valid-rmse": 1.03834},
            ),
        ),
        Sample(
            "[99]\ttrain-rmse:0.38290\tvalid-rmse:0.38290",
            Sighting(
                unit="step",
                current=100,
                series="round",
                metrics={"train-rmse": 0.38290, "valid-rmse": 0.38290},
            ),
        ),
        # after the documented format: xgboost.cv, the command line program, releases before 1.6
        Sample(
            "[5]\ttrain-auc:0.91+0.01\ttest-auc:0.85+0.02",
            Sighting(
                unit="step",
                current=6,
                series="round",
                metrics={"train-auc": 0.91, "test-auc": 0.85},
            ),
        ),
        Sample(
            "[17:50:01] [12]\ttest-logloss:0.226903",
            Sighting(unit="step", current=13, series="round", metrics={"test-logloss": 0.226903}),
        ),
        Sample("Stopping. Best iteration:", Sighting(phase="finished", ended_by="early_stop")),
        Sample("[10]\tvalid_1's l2: 1.00683", None),
        Sample("[3] host-7:8443 is up", None),
        Sample("[10]\t", None),
        Sample("[1]\t" + "a-" * 40_000, None),
        Sample("[1]\ttrain-\x00\ufffd:1", None),
    )

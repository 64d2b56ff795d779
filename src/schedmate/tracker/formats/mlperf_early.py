"""MLPerf logs before `:::MLLOG`: `:::MLPv0.5.0 resnet 1541635788.6 (train.py:1) train_epoch: 3`."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.tracker.formats.base import Sample, Sighting
from schedmate.tracker.formats.mlperf import said_by

_MAX_LENGTH = 4096
_LINE = lazy_pattern(
    r":::(?:MLPv0\.\d\.\d [\w-]{1,40} (\d{1,12}\.\d{1,9}) \([^)]{0,300}\)|MLL (\d{1,12}\.\d{1,9}))"
    r" (\w{1,60})(?:: (.{1,3000}))?$"
)
_KEYS = {"train_epoch": "epoch_start", "train_loop": "run_start"}


class MlPerfEarly:
    name = "mlperf_early"
    hints = (":::mlpv", ":::mll ")

    def read(self, line: str) -> Sighting | None:
        start = line.find(":::ML", 0, 200)
        found = None if start < 0 else _LINE.match(line[:_MAX_LENGTH].rstrip(), start)
        if found is None:
            return None
        value, metadata = _content(found[4])
        return said_by(
            {
                "time_ms": float(found[1] or found[2]) * 1000,
                "key": _KEYS.get(found[3], found[3]),
                "value": value,
                "metadata": metadata,
            }
        )

    samples: ClassVar[tuple[Sample, ...]] = (
        # after the format strings of rounds 0.5 and 0.6
        Sample(
            ":::MLPv0.5.0 resnet 1541635788.500000000 (/workspace/train.py:127) train_epoch: 3",
            Sighting(
                unit="epoch",
                current=3,
                series="epoch",
                ordinal="begun",
                epoch=3,
                at=1541635788.5,
            ),
        ),
        Sample(
            "NCF_RAW_:::MLPv0.5.0 ncf 1541635788.500000000 (ncf.py:180) eval_accuracy:"
            ' {"epoch": 6, "value": 0.6355}',
            Sighting(
                unit="epoch",
                current=6,
                series="eval",
                epoch=6,
                at=1541635788.5,
                metrics={"eval_accuracy": 0.6355},
            ),
        ),
        Sample(
            ':::MLPv0.5.0 ncf 1541635788.500000000 (ncf.py:187) run_stop: {"success": true}',
            Sighting(phase="finished", ended_by="early_stop", at=1541635788.5),
        ),
        Sample(
            ":::MLPv0.5.0 transformer 1541635788.500000000 (transformer.py:351) eval_start",
            Sighting(phase="evaluating", at=1541635788.5),
        ),
        Sample(
            ':::MLL 1558640127.250 eval_accuracy: {"value": 0.75, "metadata": {"file": "main.py",'
            ' "lineno": 60, "epoch_num": 12}}',
            Sighting(
                unit="epoch",
                current=12,
                series="eval",
                epoch=12,
                at=1558640127.25,
                metrics={"eval_accuracy": 0.75},
            ),
        ),
        Sample(
            ':::MLL 1558640127.250 run_stop: {"value": null, "metadata": {"status": "aborted"}}',
            Sighting(phase="failed", ended_by="unknown", at=1558640127.25),
        ),
        Sample(":::MLPv0.5.0 [1df9b2ab][1570666471.29151][0]", None),
        Sample(
            ':::MLL 1558640127.250 seed: {"value": 3, "metadata": {}}', Sighting(at=1558640127.25)
        ),
        Sample(":::MLL train_epoch: 3", None),
        Sample(":::MLL 1.0 a: " + "[" * 60_000, None),
    )


def _content(text: str | None) -> tuple[object, dict[str, Any]]:
    """The value and its metadata, under the names of the later rounds."""
    try:
        content = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None, {}
    if not isinstance(content, dict):
        return content, {"epoch_num": content}
    metadata = content.get("metadata")
    about = dict(metadata) if isinstance(metadata, dict) else {}
    if "epoch" in content:
        about["epoch_num"] = content["epoch"]
    if "success" in content:
        about["status"] = "success" if content["success"] is True else "aborted"
    return content.get("value"), about

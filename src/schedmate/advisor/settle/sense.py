"""What a job's code states but cannot mean, given what else is known of the job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedmate.model import Finding

_OF_TRAINING = frozenset(
    (
        "optimizer",
        "learning_rate",
        "gradient_accumulation",
        "epochs",
        "max_steps",
        "checkpoint_every",
    )
)
_TRAINS_NOTHING = ("evaluation", "inference", "preprocessing")
_SEES = ("image_classification", "object_detection", "segmentation", "gan")
_BY_MERE_NAME = 0.75


def sensible(findings: Mapping[str, Finding[Any]]) -> dict[str, Finding[Any]]:
    """Without what the code has for other jobs: settings that are shared, other sub-commands."""
    task = findings["task"].value if "task" in findings else None
    dropped = _OF_TRAINING if task in _TRAINS_NOTHING else frozenset()
    dropped |= {"batch_size"} if task == "preprocessing" else frozenset()
    kept = {
        field: finding
        for field, finding in findings.items()
        if field not in dropped or finding.source not in ("code", "config")
    }
    length = kept.get("sequence_length")
    if length is not None and task in _SEES and length.confidence <= _BY_MERE_NAME:
        del kept["sequence_length"]
    return kept

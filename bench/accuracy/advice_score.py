"""How right a workload record is: field by field, and whether its evidence is the right line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from bench.corpora.advice_cases import FIELDS, Expected, LabelledJob
from schedmate.model import Finding, Workload

Verdict = Literal["right", "wrong", "missing", "invented", "absent"]
_CLOSE = 1e-6
_ROUNDED = {"model_parameters": 0.05}
"""Sizes are labelled as people write them, 7B."""


@dataclass(frozen=True, slots=True)
class Score:
    case: str
    field: str
    verdict: Verdict
    found: Any
    expected: Any
    shown: bool
    """Whether a right value's evidence has one of the lines that state it."""
    at: str
    source: str


def score_record(case: LabelledJob, workload: Workload) -> list[Score]:
    label = case.label
    return [
        _score(case.name, name, label.expected.get(name), getattr(workload, name))
        for name in FIELDS
        if name not in label.unjudged
    ]


def _score(case: str, name: str, expected: Expected | None, found: Finding[Any] | None) -> Score:
    value = None if found is None else found.value
    lines = () if found is None else tuple(f"{each.file}:{each.line}" for each in found.evidence)
    return Score(
        case,
        name,
        _verdict(name, expected, found),
        value,
        None if expected is None else expected.value,
        expected is not None and bool({*lines} & {*expected.at}),
        ", ".join(lines),
        "" if found is None else found.source,
    )


def _verdict(name: str, expected: Expected | None, found: Finding[Any] | None) -> Verdict:
    if expected is None:
        return "absent" if found is None else "invented"
    if found is None:
        return "missing" if expected.required else "absent"
    wanted = (expected.value, *expected.accept)
    return "right" if any(same(name, found.value, one) for one in wanted) else "wrong"


def same(name: str, found: Any, wanted: Any) -> bool:
    if isinstance(wanted, bool) or isinstance(found, bool):
        return bool(found) == bool(wanted)
    if isinstance(wanted, (int, float)) and isinstance(found, (int, float)):
        return abs(found - wanted) <= _ROUNDED.get(name, _CLOSE) * abs(wanted)
    if isinstance(wanted, (list, tuple)) or isinstance(found, (list, tuple)):
        return {*_texts(found)} == {*_texts(wanted)}
    return _normal(found) == _normal(wanted)


def _texts(value: Any) -> Sequence[str]:
    return [_normal(each) for each in (value if isinstance(value, (list, tuple)) else (value,))]


def _normal(value: Any) -> str:
    """`./out/` is `out`, whatever the case."""
    text = str(value).strip()
    return str(PurePosixPath(text)).lower() if "/" in text else text.lower()

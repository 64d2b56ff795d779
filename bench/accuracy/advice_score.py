"""How right a record is: field by field, and whether its evidence stands where it should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from bench.corpora.advice_cases import FIELDS, ExamCase, Expected
from schedmate.model import Finding, Workload

Verdict = Literal["right", "wrong", "missing", "invented", "absent"]
_CLOSE = 1e-6
_ROUNDED = {"model_parameters": 0.05}
"""A person says 7B: nobody counts the last million."""


@dataclass(frozen=True, slots=True)
class Mark:
    case: str
    field: str
    verdict: Verdict
    said: Any
    expected: Any
    shown: bool
    """Whether a right value's evidence has one of the lines that state it."""
    at: str
    source: str


def marks_of(case: ExamCase, workload: Workload) -> list[Mark]:
    label = case.label
    judged = [name for name in FIELDS if name not in label.unjudged]
    return [
        _mark(case.name, name, label.expected.get(name), getattr(workload, name)) for name in judged
    ]


def _mark(case: str, name: str, expected: Expected | None, said: Finding[Any] | None) -> Mark:
    value = None if said is None else said.value
    lines = () if said is None else tuple(f"{each.file}:{each.line}" for each in said.evidence)
    return Mark(
        case,
        name,
        _verdict(name, expected, said),
        value,
        None if expected is None else expected.value,
        expected is not None and bool({*lines} & {*expected.at}),
        ", ".join(lines),
        "" if said is None else said.source,
    )


def _verdict(name: str, expected: Expected | None, said: Finding[Any] | None) -> Verdict:
    if expected is None:
        return "absent" if said is None else "invented"
    if said is None:
        return "missing"
    wanted = (expected.value, *expected.accept)
    return "right" if any(_same(name, said.value, one) for one in wanted) else "wrong"


def _same(name: str, said: Any, wanted: Any) -> bool:
    if isinstance(wanted, bool) or isinstance(said, bool):
        return bool(said) == bool(wanted)
    if isinstance(wanted, (int, float)) and isinstance(said, (int, float)):
        return abs(said - wanted) <= _ROUNDED.get(name, _CLOSE) * abs(wanted)
    if isinstance(wanted, (list, tuple)) or isinstance(said, (list, tuple)):
        return {*_texts(said)} == {*_texts(wanted)}
    return _normal(said) == _normal(wanted)


def _texts(value: Any) -> Sequence[str]:
    return [_normal(each) for each in (value if isinstance(value, (list, tuple)) else (value,))]


def _normal(value: Any) -> str:
    """`./out/` is `out`, and nobody minds the case."""
    text = str(value).strip()
    return str(PurePosixPath(text)).lower() if "/" in text else text.lower()

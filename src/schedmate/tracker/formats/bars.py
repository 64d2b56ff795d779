"""Reading a bar of tqdm's shape, in its usual layout or in a custom one."""

from __future__ import annotations

import re
from dataclasses import replace

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Phase, Unit
from schedmate.tracker.formats.base import (
    MAX_COUNT,
    Sighting,
    clock_seconds,
    metrics_in,
    rate_of,
)

_MAX_LENGTH = 4096
_MAX_LABEL, _MAX_WIDE_LABEL = 200, 1000
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_COUNT = r"(\d{1,15}(?:\.\d{1,6})?)([kKMGTP]?)"
_CLOCK = r"-?[\d:?]{1,20}"
_BRACKET = rf"\[(?P<time>{_CLOCK})(?:<{_CLOCK})?(?:,(?P<tail>[^\]]{{0,1000}}))?\]"
_COUNTED = lazy_pattern(rf" {{0,8}}{_COUNT}/{_COUNT}(?:\S{{0,20}} {_BRACKET}|$|\s(?!\[))")
_UNCOUNTED = lazy_pattern(
    rf"(?:(?P<label>[^|]{{0,200}}):(?: ?| \|[^|]{{0,200}}\| ))?{_COUNT}"
    rf"(?:/\?| ?[^\d\[]{{1,20}}) {_BRACKET}"
)
_RATE = lazy_pattern(
    r"\s{0,8}(?:\?|(?P<rate>\d{1,9}(?:\.\d{1,6})?)(?P<scale>[kKMGTP]?))(?P<each>s/)?(?P<unit>[^,=]{1,40})"
)
_EPOCH = lazy_pattern(
    r"\bepoch[\s:#=\[(]{0,4}(\d{1,9})(?:\s{0,2}(?:/|of)\s{0,2}(\d{1,9}))?", re.IGNORECASE
)
_EPOCHS = lazy_pattern(r"\bepochs?\b", re.IGNORECASE)
_NUMBER = lazy_pattern(r"\d{1,18}(?:\.\d{0,18})?(?:e[-+]?\d{1,3})?", re.IGNORECASE)
_MEASURED = lazy_pattern(
    r"[\w/-]{1,40}(?:\s{0,2}[:=]\s{0,2}-?\d|\s{1,2}-?\d{1,18}\.\d)[\d.e-]{0,20}"
)
_PHASES: tuple[tuple[re.Pattern[str], Phase], ...] = (
    (
        lazy_pattern(
            r"^(?!\W{0,9}train)(?:.*\W)?(?:eval|valid|val\b|test|predict|infer)", re.IGNORECASE
        ),
        "evaluating",
    ),
    (lazy_pattern(r"sav(?:e|ing)|checkpoint(?!s? shards)|writing", re.IGNORECASE), "checkpointing"),
    (
        lazy_pattern(
            r"download|fetch|\bload|map\b|filter|tokeniz|prepar|preproc|generating|extract|cach"
            r"|shards|warm|sanity",
            re.IGNORECASE,
        ),
        "starting",
    ),
)
_UNITS: tuple[tuple[str, Unit], ...] = (
    ("tok", "token"),
    ("epoch", "epoch"),
    ("sample", "sample"),
    ("example", "sample"),
    ("img", "sample"),
    ("image", "sample"),
)
_BYTES = ("B/s", "B", "iB/s", "iB")
_NO_METRICS = frozenset({"epoch", "step", "iter", "iteration", "batch", "fold", "v_num"})


def read_bar(line: str) -> Sighting | None:
    """What the last bar of a line says, with or without a total."""
    mark = line.rfind("%|")
    if mark >= 0:
        return _counted(line, mark)
    return _uncounted(line) if "/s" in line or "s/" in line else None


def _counted(line: str, mark: int) -> Sighting | None:
    bar_end = line.find("|", mark + 2, mark + _MAX_LENGTH)
    found = _COUNTED.match(line, bar_end + 1) if bar_end >= 0 else None
    label, percent = _label(line[max(0, mark - _MAX_LENGTH) : mark])
    if found is None or not percent:
        return None
    current, total = _count(found, 1), _count(found, 3)
    if total <= 0 or total > MAX_COUNT or current > total:
        return None
    if found["time"] is None and not _agree(percent, 100 * current / total):
        return None
    return _sighting(found, current, total, label.strip().removesuffix(":"))


def _label(before: str) -> tuple[str, str]:
    """The description, the same part of it in every line however wide it is, and the per cent."""
    label = before.rstrip("0123456789.")
    percent = before[len(label) :]
    if len(label) > _MAX_LABEL:
        label = label[label.rfind("]") + 1 :][:_MAX_WIDE_LABEL]
    return label, percent


def _uncounted(line: str) -> Sighting | None:
    found = _UNCOUNTED.match(line[:_MAX_LENGTH].strip())
    if found is None or _RATE.match(found["tail"] or "") is None:
        return None
    return _sighting(found, _count(found, 2), None, (found["label"] or "").strip())


def _agree(printed: str, percent: float) -> bool:
    """Numbers that only look like a bar's do not fit together."""
    return printed.count(".") < 2 and abs(float(printed) - percent) <= 1  # noqa: PLR2004 - one point


def labelled(label: str, current: float, total: float | None, *, unit: str = "") -> Sighting:
    """What a count with such a description says; `unit` is what is counted, as printed."""
    epoch = _EPOCH.search(label)
    return Sighting(
        unit=_unit(unit, label, numbered=epoch is not None),
        current=current,
        total=total,
        series=_NUMBER.sub("#", label)[:_MAX_LABEL],
        epoch=float(epoch[1]) if epoch else None,
        epochs=float(epoch[2]) if epoch and epoch[2] else None,
        per_epoch=epoch is not None,
        metrics=metrics_in(label, without=_NO_METRICS),
        phase="starting" if unit in _BYTES else _phase(label),
    )


def _sighting(found: re.Match[str], current: float, total: float | None, label: str) -> Sighting:
    rate = _RATE.match(found["tail"] or "")
    postfix = (found["tail"] or "")[rate.end() if rate else 0 :]
    seen = labelled(label, current, total, unit=rate["unit"].strip() if rate else "")
    return replace(
        seen,
        elapsed_s=clock_seconds(found["time"] or ""),
        rate_per_s=_rate(rate) if rate else None,
        metrics={**seen.metrics, **metrics_in(postfix, without=_NO_METRICS)},
    )


def _count(found: re.Match[str], group: int) -> float:
    return float(found[group]) * _SCALES[found[group + 1]]


def _rate(found: re.Match[str]) -> float | None:
    if found["rate"] is None or float(found["rate"]) == 0:
        return None
    printed = float(found["rate"]) * _SCALES[found["scale"]]
    return rate_of(printed) if found["each"] else printed


def _unit(unit: str, label: str, *, numbered: bool) -> Unit:
    if not numbered and _EPOCHS.search(label):
        return "epoch"
    known = unit.lower()
    return next((name for prefix, name in _UNITS if prefix in known), "step")


def _phase(label: str) -> Phase | None:
    """A metric that a description shows (`test_acc 0.71`) does not say what is being done."""
    if not label:
        return None
    bare = _MEASURED.sub("", label)
    return next((phase for pattern, phase in _PHASES if pattern.search(bare)), None)

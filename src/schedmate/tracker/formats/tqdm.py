"""tqdm bars, as every second training script draws them."""

from __future__ import annotations

import re
from typing import ClassVar

from schedmate.model import Phase, Unit
from schedmate.tracker.formats.base import MOST, Sample, Sighting, clock_seconds, metrics_in

_LONGEST = 4096
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_COUNT = r"(\d{1,15}(?:\.\d{1,6})?)([kKMGTP]?)"
_TIME = r"-?[\d:?]{1,20}"
_RATE = r"\s{0,8}(?:\?|(?P<rate>\d{1,9}(?:\.\d{1,6})?)(?P<scale>[kKMGTP]?))(?P<each>s/)?"
_TAIL = rf"{_RATE}(?P<unit>[^,\]]{{0,40}})(?P<postfix>,[^\]]{{0,1000}})?\]"
_COUNTED = re.compile(rf" {{0,8}}{_COUNT}/{_COUNT}\S{{0,20}} \[(?P<time>{_TIME})<{_TIME},{_TAIL}")
_UNCOUNTED = re.compile(
    rf"(?:^|(?P<label>[^|]{{0,200}}): ?){_COUNT} ?\D{{1,20}} \[(?P<time>{_TIME}),{_TAIL}"
)
_LONGEST_LABEL = 200
_EPOCH = re.compile(
    r"\bepoch[\s:#=\[(]{0,4}(\d{1,9})(?:\s{0,2}(?:/|of)\s{0,2}(\d{1,9}))?", re.IGNORECASE
)
_DIGITS = re.compile(r"\d{1,18}")
_PHASES: tuple[tuple[re.Pattern[str], Phase], ...] = (
    (re.compile(r"\b(?:eval|valid|\bval\b|test|predict|infer)", re.IGNORECASE), "evaluating"),
    (re.compile(r"sav(?:e|ing)|checkpoint(?!s? shards)|writing", re.IGNORECASE), "checkpointing"),
    (
        re.compile(
            r"download|fetch|load|map\b|filter|tokeniz|prepar|preproc|generating|extract|cach"
            r"|shards|warm",
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


class Tqdm:
    name = "tqdm"
    hints = ("%|", "/s", "s/")

    def read(self, line: str) -> Sighting | None:
        mark = line.rfind("%|")
        if mark >= 0:
            return _counted(line, mark)
        return _uncounted(line) if "/s" in line or "s/" in line else None

    samples: ClassVar[tuple[Sample, ...]] = (
        # lines of tqdm 4.70.1, really run
        Sample(
            "  5%|▌         | 1/20 [00:00<00:00, 49.73it/s]",
            Sighting(unit="step", current=1, total=20, elapsed_s=0, rate_per_s=49.73),
        ),
        Sample(
            "Training:  50%|█████     | 1/2 [00:01<00:01,  1.30s/it]",
            Sighting(
                unit="step",
                current=1,
                total=2,
                series="Training",
                elapsed_s=1,
                rate_per_s=1 / 1.30,
            ),
        ),
        Sample(
            "  0%|          | 0/20 [00:00<?, ?it/s]",
            Sighting(unit="step", current=0, total=20, elapsed_s=0),
        ),
        Sample(
            "20it [00:00, 49.23it/s]",
            Sighting(unit="step", current=20, elapsed_s=0, rate_per_s=49.23),
        ),
        Sample(
            "train:  80%|████████  | 4/5 [00:00<00:00, 48.88it/s, loss=0.25, lr=0.0003]",
            Sighting(
                unit="step",
                current=4,
                total=5,
                series="train",
                elapsed_s=0,
                rate_per_s=48.88,
                metrics={"loss": 0.25, "lr": 0.0003},
            ),
        ),
        Sample(
            "Epoch:  33%|███▎      | 1/3 [00:00<00:00,  9.71it/s]",
            Sighting(
                unit="epoch", current=1, total=3, series="Epoch", elapsed_s=0, rate_per_s=9.71
            ),
        ),
        Sample(
            " 20%|██        | 1.00M/5.00M [00:00<00:00, 49.7Mtok/s]",
            Sighting(unit="token", current=1e6, total=5e6, elapsed_s=0, rate_per_s=49.7e6),
        ),
        Sample(
            " 33%|███▎      | 1.00G/3.00G [00:00<00:00, 53.1GB/s]",
            Sighting(
                unit="step",
                current=1e9,
                total=3e9,
                elapsed_s=0,
                rate_per_s=53.1e9,
                phase="starting",
            ),
        ),
        Sample(
            " 25%|##5       | 1/4 [00:00<00:00, 49.59batch/s]",
            Sighting(unit="step", current=1, total=4, elapsed_s=0, rate_per_s=49.59),
        ),
        # composed after the documented format
        Sample(
            "Epoch 2/3:  45%|████▌     | 9/20 [1:02:03<1:15:50, 413.67s/it, loss=0.31]",
            Sighting(
                unit="step",
                current=9,
                total=20,
                series="Epoch #/#",
                epoch=2,
                epochs=3,
                per_epoch=True,
                elapsed_s=3723,
                rate_per_s=1 / 413.67,
                metrics={"loss": 0.31},
            ),
        ),
        Sample(
            "Validation: 100%|██████████| 13/13 [00:02<00:00,  5.10it/s]",
            Sighting(
                unit="step",
                current=13,
                total=13,
                series="Validation",
                elapsed_s=2,
                rate_per_s=5.10,
                phase="evaluating",
            ),
        ),
        Sample(" 50%|█████     | 1/2 [00:0", None),
        Sample("coverage 100%| of 3/4 modules", None),
        Sample("99%|" + "█" * 5000, None),
        Sample("read 20 MB/s [ok, 3 s/it", None),
        Sample("\x00\x01%|\ufffd\ufffd| 1/", None),
    )


def _counted(line: str, mark: int) -> Sighting | None:
    bar_end = line.find("|", mark + 2, mark + _LONGEST)
    found = _COUNTED.match(line, bar_end + 1) if bar_end >= 0 else None
    before = line[max(0, mark - _LONGEST_LABEL) : mark]
    label = before.rstrip("0123456789")
    if found is None or label == before:
        return None
    current, total = _count(found, 1), _count(found, 3)
    if total <= 0 or total > MOST or current > total:
        return None
    return _sighting(found, current, total, label.strip().removesuffix(":"))


def _uncounted(line: str) -> Sighting | None:
    found = _UNCOUNTED.match(line[:_LONGEST].strip())
    if found is None:
        return None
    return _sighting(found, _count(found, 2), None, (found["label"] or "").strip())


def _sighting(found: re.Match[str], current: float, total: float | None, label: str) -> Sighting:
    epoch = _EPOCH.search(label)
    of_bytes = found["unit"].strip() in ("B/s", "B", "iB/s", "iB")
    return Sighting(
        unit=_unit(found["unit"], label, numbered=epoch is not None),
        current=current,
        total=total,
        series=_DIGITS.sub("#", label),
        epoch=float(epoch[1]) if epoch else None,
        epochs=float(epoch[2]) if epoch and epoch[2] else None,
        per_epoch=epoch is not None,
        elapsed_s=clock_seconds(found["time"]),
        rate_per_s=_rate(found),
        metrics=metrics_in(found["postfix"][1:]) if found["postfix"] else {},
        phase="starting" if of_bytes else _phase(label),
    )


def _count(found: re.Match[str], group: int) -> float:
    return float(found[group]) * _SCALES[found[group + 1]]


def _rate(found: re.Match[str]) -> float | None:
    if found["rate"] is None or float(found["rate"]) == 0:
        return None
    printed = float(found["rate"]) * _SCALES[found["scale"]]
    return 1 / printed if found["each"] else printed


def _unit(unit: str, label: str, *, numbered: bool) -> Unit:
    if label.lower().startswith("epoch") and not numbered:
        return "epoch"
    known = unit.lower()
    return next((name for prefix, name in _UNITS if prefix in known), "step")


def _phase(label: str) -> Phase | None:
    if not label:
        return None
    return next((phase for pattern, phase in _PHASES if pattern.search(label)), None)

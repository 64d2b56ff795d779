"""fairseq: its simple and its JSON progress lines, and the sentences around them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import Checkpoint, EndsBy, Unit
from schedmate.tracker.formats.base import MAX_COUNT, NUMBER, Sighting, counted
from schedmate.tracker.formats.fairseq_samples import SAMPLES

_MAX_LENGTH = 4096
_MAX_CONFIG = 65_536
_SIMPLE = lazy_pattern(r"\bepoch (\d{3,9})(?: \| [^|:]{1,80})?:\s{1,8}(\d{1,12}) / (\d{1,12}) (\S)")
_SUMMARY = lazy_pattern(r"\bepoch (\d{3,9}) \| (?:valid on '([^']{1,60})' subset \| )?(?=\w)")
_JSON = lazy_pattern(r"\| (train_inner|train|valid|test)\w{0,20} \| (\{\".{1,4000}\})$")
_PAIR = lazy_pattern(rf"(?:^|[\s|,])([A-Za-z_]\w{{0,39}})[= ]({NUMBER})(?=[\s,|]|$)")
_END = lazy_pattern(r"\bend of epoch (\d{1,9}) \(average epoch stats below\)")
_SAVED = lazy_pattern(r"\b[Ss]aved checkpoint (\S{1,400}) \(epoch \d{1,9} @ (\d{1,12}) updates[,)]")
_PREPARED = lazy_pattern(r"Preparing to save checkpoint for epoch \d{1,9} @ (\d{1,12}) updates")
_DONE = lazy_pattern(r"\bdone training in (\d{1,12}(?:\.\d{1,9})?) seconds")
_STOPS: tuple[tuple[str, EndsBy], ...] = (
    ("Stopping training due to num_updates: ", "total"),
    ("Stopping training due to cumulative_training_time: ", "cap"),
    ("early stop since valid performance hasn't improved", "early_stop"),
    ("stopping training because current learning rate", "early_stop"),
)
_DIGITS = lazy_pattern(r"['\"]{0,1}(?:: ?|=)(\d{1,12}(?:\.\d{1,9})?)(?=[,\s)}])")
_NAMES = {"wps": "tokens_per_s", "gnorm": "grad_norm"}
_NO_METRICS = frozenset({"epoch", "update", "num_updates", "wall", "train_wall", "ups", "subset"})


class Fairseq:
    name = "fairseq"
    hints = (
        "num_updates",
        "end of epoch",
        "begin validation on",
        " updates",
        "done training in",
        "stopping training",
        "early stop since",
        "max_update",
    )
    samples = SAMPLES

    def read(self, line: str) -> Sighting | None:
        if "max_update" in line and "due to" not in line:
            return _config(line[:_MAX_CONFIG])
        text = line[:_MAX_LENGTH]
        if "num_updates" in text and "due to" not in text:
            return _simple(text) or _summary(text) or _json(text)
        return _saving(text) or _sentence(text)


def _simple(text: str) -> Sighting | None:
    found = _SIMPLE.search(text)
    count = None if found is None else counted(found[2], found[3])
    if found is None or count is None:
        return None
    values = _pairs(text[found.start(4) :])
    return Sighting(
        unit="step",
        current=count[0],
        total=count[1],
        series="epoch",
        epoch=float(found[1]),
        per_epoch=True,
        elapsed_s=_usable(values.get("wall")),
        rate_per_s=_usable(values.get("ups")) or None,
        metrics=_metrics(values),
    )


def _summary(text: str) -> Sighting | None:
    """The averages of an epoch, or of a validation."""
    found = _SUMMARY.search(text)
    values = {} if found is None else _pairs(text[found.end() :])
    if found is None or "num_updates" not in values:
        return None
    epoch = float(found[1])
    if found[2] is not None:
        bare = {name.removeprefix("valid_"): value for name, value in values.items()}
        return Sighting(epoch=epoch, metrics=_validated(bare))
    return Sighting(
        unit="epoch",
        current=epoch,
        series="epochs",
        ordinal="ended",
        epoch=epoch,
        elapsed_s=_usable(values.get("wall")),
        metrics=_metrics(values),
    )


def _json(text: str) -> Sighting | None:
    found = _JSON.search(text)
    values = {} if found is None else _loaded(found[2])
    if found is None or not values:
        return None
    epoch = _usable(values.get("epoch"))
    updates = _usable(values.get("num_updates"))
    if found[1] != "train_inner" or updates is None:
        tag = f"{found[1]}_"
        return Sighting(
            epoch=epoch,
            metrics=_validated({name.removeprefix(tag): one for name, one in values.items()}, tag),
        )
    return Sighting(
        unit="step",
        current=updates,
        series="num_updates",
        epoch=epoch,
        elapsed_s=_usable(values.get("wall")),
        rate_per_s=_usable(values.get("ups")) or None,
        metrics=_metrics(values),
    )


def _loaded(text: str) -> dict[str, float]:
    """The numbers of a JSON object; fairseq writes most of them as strings."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    items = record.items() if isinstance(record, dict) else ()
    return {
        name: float(value)
        for name, value in items
        if re.fullmatch(NUMBER, str(value)) and not isinstance(value, bool)
    }


def _pairs(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in _PAIR.findall(text)}


def _metrics(values: Mapping[str, float]) -> dict[str, float]:
    return {
        _NAMES.get(name, name): value
        for name, value in list(values.items())[:40]
        if name not in _NO_METRICS
    }


def _validated(values: Mapping[str, float], tag: str = "valid_") -> dict[str, float]:
    """Speed and sizes of a validation say nothing of the training."""
    sizes = {"tokens_per_s", "wpb", "bsz"}
    return {f"{tag}{name}": one for name, one in _metrics(values).items() if name not in sizes}


def _saving(text: str) -> Sighting | None:
    found = _SAVED.search(text)
    if found is not None:
        return Sighting(checkpoint=Checkpoint(path=found[1], step=int(found[2])))
    found = _PREPARED.search(text)
    if found is None:
        return None
    return Sighting(checkpoint=Checkpoint(step=int(found[1])), phase="checkpointing")


def _sentence(text: str) -> Sighting | None:
    for words, reason in _STOPS:
        if words in text:
            return Sighting(ended_by=reason)
    if "begin validation on " in text:
        return Sighting(phase="evaluating")
    ended, done = _END.search(text), _DONE.search(text)
    if ended is not None:
        epoch = float(ended[1])
        return Sighting(unit="epoch", current=epoch, series="epochs", ordinal="ended", epoch=epoch)
    return None if done is None else Sighting(phase="finished", elapsed_s=float(done[1]))


def _config(text: str) -> Sighting | None:
    """The settings printed at the start, of which 0 means without limit."""
    updates, epochs = _setting(text, "max_update"), _setting(text, "max_epoch")
    hours = _setting(text, "stop_time_hours")
    if not (updates or epochs or hours):
        return None
    unit: Unit | None = "step" if updates else "epoch" if epochs else None
    return Sighting(
        unit=unit, total=updates or epochs or None, cap_s=hours * 3600 if hours else None
    )


def _setting(text: str, name: str) -> float:
    at = text.find(name)
    found = None if at < 0 else _DIGITS.match(text, at + len(name))
    return 0.0 if found is None else float(found[1])


def _usable(value: float | None) -> float | None:
    return value if value is not None and 0 <= value < MAX_COUNT else None

"""fairseq: its simple and its JSON progress lines, and the sentences around them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import ClassVar

from schedmate.model import Checkpoint, EndsBy, Unit
from schedmate.tracker.formats.base import MOST, NUMBER, Sample, Sighting, counted

_LONGEST = 4096
_LONGEST_CONFIG = 65_536
_SIMPLE = re.compile(r"\bepoch (\d{3,9})(?: \| [^|:]{1,80})?:\s{1,8}(\d{1,12}) / (\d{1,12}) (\S)")
_SUMMARY = re.compile(r"\bepoch (\d{3,9}) \| (?:valid on '([^']{1,60})' subset \| )?(?=\w)")
_JSON = re.compile(r"\| (train_inner|train|valid|test)\w{0,20} \| (\{\".{1,4000}\})$")
_PAIR = re.compile(rf"(?:^|[\s|,])([A-Za-z_]\w{{0,39}})[= ]({NUMBER})(?=[\s,|]|$)")
_END = re.compile(r"\bend of epoch (\d{1,9}) \(average epoch stats below\)")
_SAVED = re.compile(r"\b[Ss]aved checkpoint (\S{1,400}) \(epoch \d{1,9} @ (\d{1,12}) updates[,)]")
_PREPARED = re.compile(r"Preparing to save checkpoint for epoch \d{1,9} @ (\d{1,12}) updates")
_DONE = re.compile(r"\bdone training in (\d{1,12}(?:\.\d{1,9})?) seconds")
_STOPS: tuple[tuple[str, EndsBy], ...] = (
    ("Stopping training due to num_updates: ", "total"),
    ("Stopping training due to cumulative_training_time: ", "cap"),
    ("early stop since valid performance hasn't improved", "early_stop"),
    ("stopping training because current learning rate", "early_stop"),
)
_DIGITS = re.compile(r"['\"]{0,1}(?:: ?|=)(\d{1,12}(?:\.\d{1,9})?)(?=[,\s)}])")
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

    def read(self, line: str) -> Sighting | None:
        if "max_update" in line and "due to" not in line:
            return _config(line[:_LONGEST_CONFIG])
        text = line[:_LONGEST]
        if "num_updates" in text and "due to" not in text:
            return _simple(text) or _summary(text) or _json(text)
        return _saving(text) or _sentence(text)

    samples: ClassVar[tuple[Sample, ...]] = (
        Sample(
            "2020-01-01 12:00:00 | INFO | train_inner | epoch 002:    100 / 4000 loss=5.3,"
            " nll_loss=4.1, ppl=17.1, wps=25000, ups=3.25, wpb=7692, bsz=256,"
            " num_updates=4100, lr=0.0005, gnorm=1.5, train_wall=30, wall=1300",
            Sighting(
                unit="step",
                current=100,
                total=4000,
                series="epoch",
                epoch=2,
                per_epoch=True,
                elapsed_s=1300,
                rate_per_s=3.25,
                metrics={
                    "loss": 5.3,
                    "nll_loss": 4.1,
                    "ppl": 17.1,
                    "tokens_per_s": 25000.0,
                    "wpb": 7692.0,
                    "bsz": 256.0,
                    "lr": 0.0005,
                    "grad_norm": 1.5,
                },
            ),
        ),
        Sample(
            "| epoch 001:    100 / 4000 loss=9.25, wps=1000, ups=0, num_updates=101, wall=35",
            Sighting(
                unit="step",
                current=100,
                total=4000,
                series="epoch",
                epoch=1,
                per_epoch=True,
                elapsed_s=35,
                metrics={"loss": 9.25, "tokens_per_s": 1000.0},
            ),
        ),
        Sample(
            '2020-01-01 12:00:00 | INFO | train_inner | {"epoch": 1, "update": 0.025,'
            ' "loss": "5.3", "wps": "25000", "ups": "3.2", "num_updates": "100", "lr": "1e-05",'
            ' "gnorm": "1.5", "train_wall": "30", "wall": "35"}',
            Sighting(
                unit="step",
                current=100,
                series="num_updates",
                epoch=1,
                elapsed_s=35,
                rate_per_s=3.2,
                metrics={"loss": 5.3, "tokens_per_s": 25000.0, "lr": 1e-05, "grad_norm": 1.5},
            ),
        ),
        Sample(
            '2020-01-01 12:00:00 | INFO | valid | {"epoch": 1, "valid_loss": "4.25",'
            ' "valid_wps": "9000", "valid_num_updates": "4000", "valid_best_loss": "4.25"}',
            Sighting(epoch=1, metrics={"valid_loss": 4.25, "valid_best_loss": 4.25}),
        ),
        Sample(
            "2020-01-01 12:00:00 | INFO | train | epoch 001 | loss 5.5 | wps 25000 | ups 3.2 |"
            " num_updates 4000 | lr 0.0005 | gnorm 1.5 | train_wall 1200 | wall 1300",
            Sighting(
                unit="epoch",
                current=1,
                series="epochs",
                ordinal="ended",
                epoch=1,
                elapsed_s=1300,
                metrics={"loss": 5.5, "tokens_per_s": 25000.0, "lr": 0.0005, "grad_norm": 1.5},
            ),
        ),
        Sample(
            "2020-01-01 12:00:00 | INFO | valid | epoch 001 | valid on 'valid' subset |"
            " loss 4.25 | ppl 5.75 | wps 9000 | num_updates 4000 | best_loss 4.25",
            Sighting(
                epoch=1, metrics={"valid_loss": 4.25, "valid_ppl": 5.75, "valid_best_loss": 4.25}
            ),
        ),
        Sample(
            "| epoch 001 | valid on 'valid' subset | valid_loss 8.125 | num_updates 600",
            Sighting(epoch=1, metrics={"valid_loss": 8.125}),
        ),
        Sample(
            "2020-01-01 12:00:00 | INFO | fairseq_cli.train | end of epoch 1 (average epoch"
            " stats below)",
            Sighting(unit="epoch", current=1, series="epochs", ordinal="ended", epoch=1),
        ),
        Sample(
            '2020-01-01 12:00:00 | INFO | fairseq_cli.train | begin validation on "valid" subset',
            Sighting(phase="evaluating"),
        ),
        Sample(
            "2020-01-01 12:00:00 | INFO | fairseq.checkpoint_utils | Saved checkpoint"
            " out/checkpoint1.pt (epoch 1 @ 4000 updates, score 4.25) (writing took 2.5 seconds)",
            Sighting(checkpoint=Checkpoint(path="out/checkpoint1.pt", step=4000)),
        ),
        Sample(
            "INFO | fairseq.checkpoint_utils | Preparing to save checkpoint for epoch 1 @ 4000"
            " updates",
            Sighting(checkpoint=Checkpoint(step=4000), phase="checkpointing"),
        ),
        Sample(
            "| INFO | fairseq_cli.train | Stopping training due to num_updates: 4000 >="
            " max_update: 4000",
            Sighting(ended_by="total"),
        ),
        Sample(
            "Stopping training due to cumulative_training_time: 3.01 > stop_time_hours: 3 hour(s)",
            Sighting(ended_by="cap"),
        ),
        Sample(
            "| early stop since valid performance hasn't improved for last 10 runs",
            Sighting(ended_by="early_stop"),
        ),
        Sample(
            "2020-01-01 12:00:00 | INFO | fairseq_cli.train | done training in 123.4 seconds",
            Sighting(phase="finished", elapsed_s=123.4),
        ),
        Sample(
            "| INFO | fairseq_cli.train | {'optimization': {'max_epoch': 0, 'max_update': 4000,"
            " 'stop_time_hours': 2.0, 'clip_norm': 0.1}}",
            Sighting(unit="step", total=4000, cap_s=7200),
        ),
        Sample(
            "Namespace(lr=[0.1], max_epoch=30, max_update=0, seed=1)",
            Sighting(unit="epoch", total=30),
        ),
        Sample("Namespace(max_epoch=0, max_update=0)", None),
        Sample("epoch 001: 100 / 4000", None),
        Sample("| epoch 001:   4001 / 4000 loss=1, num_updates=4001", None),
        Sample('| train_inner | {"num_updates": "x"}', None),
        Sample('| train_inner | {"num_updates": {"a": ' + "[" * 3000 + "}", None),
        Sample("num_updates " + "epoch 001 | " * 10_000, None),
        Sample("max_update " * 10_000, None),
    )


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
    return value if value is not None and 0 <= value < MOST else None

"""`YOLO("yolov8n.pt").train(data=…, epochs=…)`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    is_of,
    number_of,
    said,
    text_of,
    told,
    truth_of,
)
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Value
from schedmate.advisor.settle.claim import Claim

_FIELDS = {
    "epochs": "epochs",
    "optimizer": "optimizer",
    "learning_rate": "lr0",
    "checkpoint_dir": "project",
    "checkpoint_every": "save_period",
    "max_time_s": "time",
}


def ultralytics(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "train"):
        if is_of(call.callee, "ultralytics"):
            yield from _training(call)
            return


def _training(call: Call) -> Iterator[Claim]:
    given = {name: value for name, value in call.keywords.items() if not _left_open(name, value)}
    given.pop("time", None)
    yield from told(_FIELDS, given, call)
    batch = given.get("batch")
    if (number_of(batch) or 0) >= 1:
        yield from said("batch_size", batch, call)
    yield from said("dataset", _stem(call.keywords.get("data")), call)
    yield from said("model", _weights(call), call)
    patience = number_of(call.keywords.get("patience"))
    if patience:
        value = call.keywords["patience"]
        yield from said("early_stopping", Value(True, value.lines, value.source), call)
    half = call.keywords.get("half")
    if half is not None and truth_of(half) is True:
        yield from said("precision", Value("fp16", half.lines, half.source), call)
    resume = call.keywords.get("resume")
    if resume is not None and truth_of(resume) is not None:
        yield from said("resumes", Value(truth_of(resume), resume.lines, resume.source), call)


def _left_open(name: str, value: Value) -> bool:
    return text_of(value) == "auto" or (name == "save_period" and (number_of(value) or 0) < 1)


def _weights(call: Call) -> Value | None:
    made = None if call.receiver is None else call.receiver.data
    if not isinstance(made, LibraryObject):
        return None
    return _stem(made.call.argument("model", 0))


def _stem(value: Value | None) -> Value | None:
    """`weights/yolov8n.pt` is yolov8n, `coco128.yaml` is coco128."""
    text = text_of(value)
    if value is None or not text:
        return None
    return Value(PurePosixPath(text).stem, value.lines, value.source)

"""ultralytics: `yolo detect train data=coco128.yaml model=yolov8n.pt epochs=100`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    is_true,
    known_by,
    renamed,
    saying,
    stated,
    stem,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_option, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "epochs": "epochs",
    "optimizer": "optimizer",
    "learning_rate": "lr0",
    "checkpoint_dir": "project",
    "resumes": "resume",
}
_TASKS = {
    "detect": "object_detection",
    "obb": "object_detection",
    "segment": "segmentation",
    "classify": "image_classification",
}
_OTHER_MODES = {"val": "evaluation", "predict": "inference", "track": "inference"}
_SECONDS = 3600


def ultralytics(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    config = with_options(config_option(given.options, "cfg", context), given.options, context)
    words = [word.text for word in given.positional]
    mode = _said(config, "mode") or next((word for word in words if word in _OTHER_MODES), "train")
    task = _said(config, "task") or next((word for word in words if word in _TASKS), "")
    yield known_by(run, "framework", "ultralytics")
    if mode in _OTHER_MODES or task in _TASKS:
        yield known_by(run, "task", _OTHER_MODES.get(mode) or _TASKS[task])
    yield from saying("model", stem(select(config, "model")))
    yield from saying("dataset", stem(select(config, "data")))
    if mode == "train":
        yield from _training(config)


def _said(config: Value, name: str) -> str:
    value = stated(select(config, name))
    return str(value.data) if value is not None else ""


def _training(config: Value) -> Iterator[Claim]:
    yield from told(config, _NAMES)
    for field, name in (("batch_size", "batch"), ("checkpoint_every", "save_period")):
        value = stated(select(config, name))
        if value is not None and isinstance(value.data, int) and value.data >= 1:
            yield Claim(field=field, value=value)
    patience = stated(select(config, "patience"))
    if patience is not None:
        yield Claim(field="early_stopping", value=renamed(patience, patience.data != 0))
    amp = select(config, "amp")
    if amp is not None and is_true(amp):
        yield Claim(field="precision", value=renamed(amp, "fp16"))
    hours = stated(select(config, "time"))
    if hours is not None and isinstance(hours.data, (int, float)) and hours.data > 0:
        yield Claim(field="max_time_s", value=renamed(hours, float(hours.data) * _SECONDS))
    yield from _devices(select(config, "device"))


def _devices(value: Value | None) -> Iterator[Claim]:
    """Several devices train in as many processes."""
    several = value is not None and (
        isinstance(value.data, Sequence) or (isinstance(value.data, str) and "," in value.data)
    )
    if value is not None and several:
        yield Claim(field="parallelism", value=renamed(value, "ddp"))

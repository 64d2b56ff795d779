"""ultralytics: `yolo detect train data=coco128.yaml …`, or `YOLO("yolov8n.pt").train(…)`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, is_of
from schedmate.advisor.frameworks.contract import (
    Framework,
    Rule,
    Sample,
    Settings,
    restated,
    table_of,
)
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import (
    at_least,
    by_program,
    converted,
    of_program,
    stem,
    switched,
)
from schedmate.advisor.interpret.python.values import LibraryObject, Sequence, Value

_TASKS = {
    "detect": "object_detection",
    "obb": "object_detection",
    "segment": "segmentation",
    "classify": "image_classification",
}
_OTHER_MODES = {"val": "evaluation", "predict": "inference", "track": "inference"}
_HOUR_S = 3600


def _called(reading: Reading) -> Iterator[Settings]:
    for call in calls_of(reading, "train"):
        if is_of(call.callee, "ultralytics"):
            made = None if call.receiver is None else call.receiver.data
            model = made.call.argument("model", 0) if isinstance(made, LibraryObject) else None
            parts = {} if model is None else {"model": model}
            yield Settings(table_of({**parts, **call.keywords}), reading, at=call)
            return


def _mode(settings: Settings) -> str:
    words = [word.text for word in settings.words]
    return settings.text("mode") or next((word for word in words if word in _OTHER_MODES), "train")


def _task(settings: Settings) -> Value | None:
    if not settings.started:
        return None
    words = [word.text for word in settings.words]
    task = settings.text("task") or next((word for word in words if word in _TASKS), "")
    meant = _OTHER_MODES.get(_mode(settings)) or _TASKS.get(task)
    return None if meant is None else by_program(settings, meant)


def _trained(rule: str | Rule) -> Rule:
    """Settings of a training say nothing where it only predicts."""

    def of_training(settings: Settings) -> Value | None:
        if _mode(settings) != "train":
            return None
        return settings.first(rule) if isinstance(rule, str) else rule(settings)

    return of_training


def _patience(value: Value) -> Value:
    return restated(value, value.data != 0)


def _hours(value: Value) -> Value | None:
    hours = value.data
    counts = isinstance(hours, (int, float)) and hours > 0
    return restated(value, float(hours) * _HOUR_S) if counts else None


def _resumes(value: Value) -> Value:
    return restated(value, str(value.data).lower() not in ("false", ""))


def _devices(settings: Settings) -> Value | None:
    """Several devices train in as many processes."""
    value = settings.get("device")
    several = value is not None and (
        isinstance(value.data, Sequence) or (isinstance(value.data, str) and "," in value.data)
    )
    return restated(value, "ddp") if value is not None and several else None


FRAMEWORK = Framework(
    settings={
        "framework": of_program("ultralytics"),
        "task": _task,
        "model": converted(stem, "model"),
        "dataset": converted(stem, "data"),
        "epochs": _trained("epochs"),
        "batch_size": _trained(at_least(1, "batch")),
        "optimizer": _trained("optimizer"),
        "learning_rate": _trained("lr0"),
        "checkpoint_dir": _trained("project"),
        "checkpoint_every": _trained(at_least(1, "save_period")),
        "early_stopping": _trained(converted(_patience, "patience")),
        "precision": _trained(switched({"amp": "fp16", "half": "fp16"})),
        "max_time_s": _trained(converted(_hours, "time")),
        "resumes": _trained(converted(_resumes, "resume")),
        "parallelism": _trained(_devices),
    },
    program=command_line(config="cfg"),
    calls=_called,
    samples=(
        Sample(
            command="yolo detect train data=coco128.yaml model=weights/yolov8n.pt epochs=100 "
            "imgsz=640 batch=16 lr0=0.01 device=0,1 patience=20 time=2.5 optimizer=auto",
            claims={
                "framework": "ultralytics",
                "task": "object_detection",
                "model": "yolov8n",
                "dataset": "coco128",
                "epochs": 100,
                "batch_size": 16,
                "learning_rate": 0.01,
                "parallelism": "ddp",
                "early_stopping": True,
                "max_time_s": 9000.0,
            },
        ),
        Sample(
            command="yolo predict model=a.pt source=x epochs=3 batch=-1",
            claims={"framework": "ultralytics", "task": "inference", "model": "a"},
        ),
        Sample(
            command="yolo cfg=c.yaml",
            files={"c.yaml": "mode: train\nepochs: 7\nbatch: -1\n"},
            claims={"framework": "ultralytics", "epochs": 7},
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "from ultralytics import YOLO\nmodel = YOLO('weights/yolov8n.pt')\n"
                "model.train(data='coco128.yaml', epochs=3, batch=-1, patience=0, resume=True)\n"
            },
            claims={
                "model": "yolov8n",
                "dataset": "coco128",
                "epochs": 3,
                "early_stopping": False,
                "resumes": True,
            },
        ),
    ),
)

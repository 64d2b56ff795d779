"""mmengine and mmcv: `tools/train.py config.py --cfg-options a.b=c`, or `Runner.from_cfg(cfg)`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, last_name, parts_of
from schedmate.advisor.frameworks.command_line import config_at, read_command_line
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.rules import (
    by_program,
    converted,
    either,
    of_program,
    present,
    switched,
    text,
)
from schedmate.advisor.interpret.python.values import Value

_SWITCHES = frozenset({"cfg_options", "amp", "auto_scale_lr", "no_validate", "resume"})
_TASKS = {
    "mmdet": "object_detection",
    "mmseg": "segmentation",
    "mmpretrain": "image_classification",
    "mmcls": "image_classification",
}
_WRAPPED = ("RepeatDataset", "ConcatDataset", "ClassBalancedDataset", "MultiImageMixDataset")
_CALLS = ("Runner.from_cfg", "RUNNERS.build", "train_detector", "train_model")
_DATASET = (
    "train_dataloader.dataset.dataset.type train_dataloader.dataset.type "
    "data.train.dataset.type data.train.type dataset_type"
)


def _called(reading: Reading) -> Iterator[Settings]:
    for call in calls_of(reading, *_CALLS):
        place = 2 if "train" in last_name(call.callee) and call.argument("cfg", 2) else 0
        config = call.argument("cfg", place)
        if config is not None and parts_of(config):
            yield Settings(config, reading, at=call)
            return


def _started(reading: Reading) -> Iterator[Settings]:
    given = read_command_line(reading.run.arguments, switches=_SWITCHES)
    file = given.word(0)
    if file is not None and file.known and reading.context is not None:
        yield settings_of(reading, given, config_at(file.text, reading.context))


def _dataset(value: Value) -> Value | None:
    """`CocoDataset` is coco."""
    name = text(value)
    return (
        None
        if name is None or name in _WRAPPED
        else restated(value, name.removesuffix("Dataset").lower())
    )


def _mixed(settings: Settings) -> Value | None:
    wrapper = settings.first("optim_wrapper.type")
    if wrapper is None or wrapper.data != "AmpOptimWrapper":
        return None
    return settings.first("optim_wrapper.dtype") or restated(wrapper, "fp16")


def _resumes(settings: Settings) -> Value | None:
    """Only a plain switch says so: `resume_from` is a path that may be null."""
    found = (settings.get("resume"), settings.get("auto_resume"))
    switches = (value for value in found if value is not None and isinstance(value.data, bool))
    return next(switches, None) if settings.at is None else None


def _task(settings: Settings) -> Value | None:
    source = settings.reading.run.entry.source
    task = next((task for name, task in _TASKS.items() if source and f"{name}." in source.text), "")
    if not settings.started or not task:
        return None
    return by_program(settings, task, "model.type", _DATASET)


FRAMEWORK = Framework(
    settings={
        "framework": of_program("mmengine", "default_scope"),
        "task": _task,
        "model": "model.type",
        "dataset": converted(_dataset, _DATASET),
        "batch_size": "train_dataloader.batch_size data.samples_per_gpu",
        "epochs": "train_cfg.max_epochs runner.max_epochs",
        "max_steps": "train_cfg.max_iters runner.max_iters",
        "optimizer": "optim_wrapper.optimizer.type optimizer.type",
        "learning_rate": "optim_wrapper.optimizer.lr optimizer.lr",
        "gradient_accumulation": "optim_wrapper.accumulative_counts",
        "checkpoint_every": "default_hooks.checkpoint.interval checkpoint_config.interval",
        "checkpoint_dir": "work_dir",
        "precision": either(switched({"amp": "fp16"}), _mixed, present("fp16", "fp16")),
        "resumes": _resumes,
    },
    confidence={"model": 0.85},
    program=_started,
    calls=_called,
    samples=(
        Sample(
            command="python tools/train.py configs/rcnn.yaml --amp --resume --work-dir w "
            "--cfg-options optim_wrapper.optimizer.lr=0.01 train_cfg.max_epochs=3",
            files={
                "configs/_base_/sched.yaml": "train_cfg: {max_epochs: 12}\n"
                "optim_wrapper: {type: OptimWrapper, optimizer: {type: SGD, lr: 0.02}}\n",
                "configs/rcnn.yaml": "_base_: [_base_/sched.yaml]\nmodel: {type: FasterRCNN}\n"
                "train_dataloader: {batch_size: 2, dataset: {type: CocoDataset}}\n",
                "tools/train.py": "from mmengine.config import Config\nfrom mmdet.utils import x\n",
            },
            claims={
                "framework": "mmengine",
                "task": "object_detection",
                "model": "FasterRCNN",
                "dataset": "coco",
                "batch_size": 2,
                "epochs": 3,
                "optimizer": "SGD",
                "learning_rate": 0.01,
                "precision": "fp16",
                "resumes": True,
                "checkpoint_dir": "w",
            },
        ),
        Sample(
            command="python run.py",
            files={
                "run.py": "from mmengine.runner import Runner\n"
                "cfg = dict(model=dict(type='UNet'), work_dir='w', train_cfg=dict(max_iters=9),\n"
                "  data=dict(samples_per_gpu=4), optimizer=dict(type='SGD', lr=0.1))\n"
                "Runner.from_cfg(cfg).train()\n",
            },
            claims={
                "model": "UNet",
                "checkpoint_dir": "w",
                "max_steps": 9,
                "batch_size": 4,
                "optimizer": "SGD",
                "learning_rate": 0.1,
            },
        ),
    ),
)

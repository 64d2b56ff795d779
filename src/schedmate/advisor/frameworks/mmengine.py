"""mmengine and what came before it: a runner that is told everything by a config."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    Place,
    calls_of,
    last_name,
    part_of,
    parts_of,
    said,
    text_of,
)
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_MMENGINE = {
    "batch_size": ("train_dataloader.batch_size", "data.samples_per_gpu"),
    "epochs": ("train_cfg.max_epochs", "runner.max_epochs"),
    "max_steps": ("train_cfg.max_iters", "runner.max_iters"),
    "optimizer": ("optim_wrapper.optimizer.type", "optimizer.type"),
    "learning_rate": ("optim_wrapper.optimizer.lr", "optimizer.lr"),
    "gradient_accumulation": ("optim_wrapper.accumulative_counts",),
    "checkpoint_every": ("default_hooks.checkpoint.interval", "checkpoint_config.interval"),
    "checkpoint_dir": ("work_dir",),
    "dataset": ("train_dataloader.dataset.type", "data.train.type", "dataset_type"),
}
_WRAPPED = ("RepeatDataset", "ConcatDataset", "ClassBalancedDataset", "MultiImageMixDataset")
_SET = re.compile(r"Dataset$")


def mmengine(reading: Reading) -> Iterator[Claim]:
    """What `Runner.from_cfg(cfg)` gets, or the kin of it that registries build."""
    for call in calls_of(
        reading, "Runner.from_cfg", "RUNNERS.build", "train_detector", "train_model"
    ):
        config = call.argument("cfg", 0)
        if "train" in last_name(call.callee) and call.argument("cfg", 2) is not None:
            config = call.argument("cfg", 2)
        if parts_of(config):
            yield from mmengine_said(config, call)
            return


def mmengine_said(config: Value | None, at: Place) -> Iterator[Claim]:
    for field, paths in _MMENGINE.items():
        found = (_at(config, path) for path in paths)
        value = next((each for each in found if each is not None and each.known), None)
        yield from said(field, _dataset(value) if field == "dataset" else value, at)
    wrapper = text_of(_at(config, "optim_wrapper.type"))
    line = _at(config, "optim_wrapper.type") or _at(config, "fp16")
    if line is not None and (wrapper == "AmpOptimWrapper" or parts_of(_at(config, "fp16"))):
        yield from said("precision", Value("fp16", line.lines, line.source), at)
    yield from said("model", _detector(config), at, confidence=0.85)


def _dataset(value: Value | None) -> Value | None:
    name = text_of(value)
    if value is None or name is None or name in _WRAPPED:
        return None
    return Value(_SET.sub("", name).lower(), value.lines, value.source)


def _detector(config: Value | None) -> Value | None:
    return _at(config, "model.type")


def _at(config: Value | None, path: str) -> Value | None:
    return part_of(config, *path.split("."))

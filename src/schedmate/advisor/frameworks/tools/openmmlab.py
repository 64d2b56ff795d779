"""OpenMMLab: `tools/train.py config.py --cfg-options a.b=c`, for all that build on mmengine."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import first, is_true, known_by, renamed, saying, told
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_at, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import remove, select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "model.type",
    "batch_size": "train_dataloader.batch_size data.samples_per_gpu",
    "epochs": "train_cfg.max_epochs runner.max_epochs",
    "max_steps": "train_cfg.max_iters runner.max_iters",
    "optimizer": "optim_wrapper.optimizer.type optimizer.type",
    "learning_rate": "optim_wrapper.optimizer.lr optimizer.lr",
    "gradient_accumulation": "optim_wrapper.accumulative_counts",
    "checkpoint_every": "default_hooks.checkpoint.interval checkpoint_config.interval",
    "checkpoint_dir": "work_dir",
}
_DATASET = (
    "train_dataloader.dataset.dataset.type train_dataloader.dataset.type "
    "data.train.dataset.type data.train.type dataset_type"
)
_TASKS = {
    "mmdet": "object_detection",
    "mmseg": "segmentation",
    "mmpretrain": "image_classification",
    "mmcls": "image_classification",
}
_SWITCHES = frozenset({"cfg_options", "amp", "auto_scale_lr", "no_validate", "resume"})


def openmmlab(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments, switches=_SWITCHES)
    file = given.word(0)
    if file is None or not file.known:
        return
    config = with_options(config_at(file.text, context), _without_flags(given.options), context)
    yield known_by(run, "framework", "mmengine", first(config, "default_scope"))
    yield from told(config, _NAMES)
    yield from saying("dataset", _dataset(config))
    yield from _precision(config, given.options)
    yield from _resuming(config, given.options)
    task = _task(run)
    if task is not None:
        yield known_by(run, "task", task, first(config, "model.type"), first(config, _DATASET))


def _without_flags(options: Value) -> Value:
    for name in _SWITCHES:
        options = remove(options, name)
    return options


def _dataset(config: Value) -> Value | None:
    """`CocoDataset` is coco."""
    found = first(config, _DATASET)
    if found is None or not isinstance(found.data, str):
        return None
    return renamed(found, found.data.removesuffix("Dataset").lower())


def _precision(config: Value, flags: Value) -> Iterator[Claim]:
    wrapper = first(config, "optim_wrapper.type")
    amp = select(flags, "amp")
    if amp is not None and is_true(amp):
        yield Claim(field="precision", value=renamed(amp, "fp16"))
    elif wrapper is not None and wrapper.data == "AmpOptimWrapper":
        kind = first(config, "optim_wrapper.dtype")
        yield Claim(field="precision", value=kind or renamed(wrapper, "fp16"))
    elif (half := select(config, "fp16")) is not None and isinstance(half.data, Table):
        yield Claim(field="precision", value=renamed(half, "fp16"))


def _resuming(config: Value, flags: Value) -> Iterator[Claim]:
    for value in (select(flags, "resume"), select(flags, "auto_resume"), select(config, "resume")):
        if value is not None and isinstance(value.data, bool):
            yield Claim(field="resumes", value=value)
            return


def _task(run: PythonRun) -> str | None:
    text = run.entry.source.text if run.entry.source is not None else ""
    return next((task for name, task in _TASKS.items() if f"{name}." in text), None)

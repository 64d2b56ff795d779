"""DeepSpeed: its config in the code, in a file, named on the command line or by another config."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import calls_of, derived, is_of, number_of, part_of
from schedmate.advisor.frameworks.contract import (
    Framework,
    Rule,
    Sample,
    Settings,
    restated,
)
from schedmate.advisor.frameworks.rules import switched
from schedmate.advisor.interpret.python.values import Call, Table, Value
from schedmate.advisor.settle.claim import Claim

_OPTIONS = ("deepspeed_config", "deepspeed", "ds_config", "deepspeed_config_file")
_STAGES = {"0": "ddp", "1": "zero1", "2": "zero2", "3": "zero3"}
_SHARES = {
    "batch_size": "train_micro_batch_size_per_gpu",
    "gradient_accumulation": "gradient_accumulation_steps",
}


def zero_stage(names: str) -> Rule:
    """Stage 0 shards nothing, which is plain data parallelism."""

    def rule(settings: Settings) -> Value | None:
        stage = settings.first(names)
        if stage is None or isinstance(stage.data, bool):
            return None
        way = _STAGES.get(str(stage.data))
        return None if way is None else restated(stage, way)

    return rule


def named_deepspeed(settings: Settings, value: Value | None) -> Iterator[Claim]:
    """The claims of a DeepSpeed config that other settings hold, or name by its file."""
    if value is None:
        return
    tree = value if isinstance(value.data, Table) else settings.read(value.data)
    if tree is not None:
        yield from FRAMEWORK.claims_of(replace(settings, tree=tree))


def _called(reading: Reading) -> Iterator[Settings]:
    for call in calls_of(reading, "initialize", "DeepSpeedPlugin"):
        if not is_of(call.callee, "deepspeed", "accelerate"):
            continue
        config = _config(reading, call)
        if config is None:
            continue
        found = config if isinstance(config.data, Table) else _read(reading, config)
        if found is not None:
            yield Settings(found, reading, at=call)
        return


def _config(reading: Reading, call: Call) -> Value | None:
    for name in ("config", "config_params", "hf_ds_config"):
        given = call.keywords.get(name)
        if given is not None and given.known and given.data is not None:
            return given
    args = call.argument("args", 0)
    for name in _OPTIONS:
        value = part_of(args, name) or reading.options.get(name)
        if value is not None and isinstance(value.data, str):
            return value
    return None


def _read(reading: Reading, path: Value) -> Value | None:
    return reading.read_config(path.data) if isinstance(path.data, str) else None


def _share(field: str) -> Rule:
    """Stated, or what is left of the batch of all GPUs: DeepSpeed works out the third of micro
    batch, accumulation and train batch."""
    own = _SHARES[field]
    (other,) = (name for name in _SHARES.values() if name != own)

    def rule(settings: Settings) -> Value | None:
        stated = settings.first(own)
        whole, given = settings.first("train_batch_size"), settings.first(other)
        processes = settings.reading.processes.total
        if stated is not None or whole is None or given is None or processes is None:
            return stated
        total, share = number_of(whole), processes.number * (number_of(given) or 0)
        if settings.get(own) is not None or total is None or not share or total % share:
            return None
        return derived(int(total // share), whole, given)

    return rule


FRAMEWORK = Framework(
    settings={
        "parallelism": zero_stage("zero_optimization.stage"),
        "precision": switched(
            {"bf16.enabled": "bf16", "bfloat16.enabled": "bf16", "fp16.enabled": "fp16"}
        ),
        "batch_size": _share("batch_size"),
        "gradient_accumulation": _share("gradient_accumulation"),
        "optimizer": "optimizer.type",
        "learning_rate": "optimizer.params.lr",
    },
    calls=_called,
    samples=(
        Sample(
            command="deepspeed train.py --deepspeed_config ds.json",
            files={
                "train.py": "import argparse\nimport deepspeed\np = argparse.ArgumentParser()\n"
                "p.add_argument('--deepspeed_config')\nargs = p.parse_args()\n"
                "deepspeed.initialize(args=args, model=build())\n",
                "ds.json": '{"train_micro_batch_size_per_gpu": 4,'
                ' "gradient_accumulation_steps": "auto", "fp16": {"enabled": "auto"},'
                ' "bf16": {"enabled": true}, "zero_optimization": {"stage": 2},'
                ' "optimizer": {"type": "AdamW", "params": {"lr": "auto"}}}',
            },
            claims={
                "batch_size": 4,
                "precision": "bf16",
                "optimizer": "AdamW",
                "parallelism": "zero2",
            },
        ),
        Sample(
            command="deepspeed --num_gpus 4 train.py",
            files={
                "train.py": "import deepspeed\nconfig = {'train_batch_size': 64,"
                " 'train_micro_batch_size_per_gpu': 8, 'zero_optimization': {'stage': 0}}\n"
                "deepspeed.initialize(model=build(), config=config)\n"
            },
            claims={"batch_size": 8, "gradient_accumulation": 2, "parallelism": "ddp"},
        ),
    ),
)

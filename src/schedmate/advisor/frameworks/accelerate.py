"""accelerate: the Accelerator in the job's own loop, and what `accelerate launch` hands over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import kind_of, last_name
from schedmate.advisor.frameworks.contract import (
    Framework,
    Sample,
    Settings,
    is_on,
    restated,
)
from schedmate.advisor.frameworks.deepspeed import named_deepspeed, zero_stage
from schedmate.advisor.frameworks.doors import constructed
from schedmate.advisor.frameworks.rules import converted, either
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.options.configs import parse_value
from schedmate.advisor.settle.claim import Claim

_WEAKER = 0.9
"""What the Accelerator gets in the code goes over it."""
_WAYS = {"multi_gpu": "ddp", "multi_npu": "ddp", "multi_xpu": "ddp", "fsdp": "fsdp"}
_BY_FILE = re.compile(r"fsdp|zero[_-]?[123]|ddp")
_ZERO = "zero_stage deepspeed_config.zero_stage"


def launched(reading: Reading) -> Iterator[Settings]:
    """The options of the launcher over the YAML file that they name."""
    for launcher in reading.run.launched:
        if not launcher.name.startswith("accelerate"):
            continue
        given = {name: parse_value(word) for name, word in launcher.options.items() if word.known}
        file = given.get("config_file")
        path = file.data if file is not None and isinstance(file.data, str) else ""
        config = reading.read_config(path) if path else None
        parts = config.data.parts if config is not None and isinstance(config.data, Table) else {}
        tree = Value(Table({**parts, **given}))
        yield Settings(tree, reading, confidence=_WEAKER)


def _precision(value: Value) -> Value | None:
    return None if value.data in ("no", False) else value


def _accumulation(settings: Settings) -> Value | None:
    return settings.first(
        "gradient_accumulation_steps deepspeed_config.gradient_accumulation_steps"
    )


def _plugin(settings: Settings) -> Value | None:
    plugin = settings.get("fsdp_plugin")
    if plugin is None or last_name(kind_of(plugin)) != "FullyShardedDataParallelPlugin":
        return None
    lines = plugin.lines or (() if settings.at is None else (settings.at.line,))
    return Value("fsdp", lines)


def _switch(settings: Settings) -> Value | None:
    """`--use_fsdp`, `--use_deepspeed --zero_stage 3`, `--multi_gpu`."""
    for name, way in (("use_fsdp", "fsdp"), ("use_deepspeed", ""), ("multi_gpu", "ddp")):
        value = settings.get(name)
        if value is not None and is_on(value):
            return restated(value, way) if way else zero_stage(_ZERO)(settings)
    return None


def _kind(settings: Settings) -> Value | None:
    kind = settings.first("distributed_type")
    if kind is None:
        return None
    name = str(kind.data).lower()
    if name == "deepspeed":
        return zero_stage(_ZERO)(settings)
    return restated(kind, _WAYS[name]) if name in _WAYS else None


def _named_file(settings: Settings) -> Value | None:
    """A file that is not at hand, called after what it sets: `fsdp.yaml`, `zero2_config.yaml`."""
    file = settings.first("config_file")
    if file is None or settings.first("distributed_type") is not None:
        return None
    found = _BY_FILE.search(PurePosixPath(str(file.data)).stem.lower())
    return None if found is None else restated(file, found[0].replace("_", "").replace("-", ""))


def _several(settings: Settings) -> Value | None:
    """Several processes, where no file says how they share the work."""
    count = settings.first("num_processes")
    alone = count is None or str(count.data) == "1" or settings.get("distributed_type") is not None
    return None if count is None or alone or settings.at is not None else restated(count, "ddp")


def _deepspeed(settings: Settings) -> Iterator[Claim]:
    path = settings.first("deepspeed_config_file deepspeed_config.deepspeed_config_file")
    yield from named_deepspeed(settings, path)


FRAMEWORK = Framework(
    settings={
        "precision": converted(_precision, "mixed_precision"),
        "gradient_accumulation": _accumulation,
        "checkpoint_dir": "project_dir",
        "parallelism": either(_plugin, _switch, _kind, _named_file, _several),
    },
    confidence={"checkpoint_dir": 0.7},
    calls=constructed(r"^Accelerator$", ("accelerate",)),
    launcher=launched,
    others=(_deepspeed,),
    samples=(
        Sample(
            command="accelerate launch --config_file a.yaml --mixed_precision bf16 train.py",
            files={
                "a.yaml": "distributed_type: DEEPSPEED\nmixed_precision: fp16\n"
                "deepspeed_config: {zero_stage: 3, gradient_accumulation_steps: 4}\n",
                "train.py": "print('nothing')\n",
            },
            claims={"precision": "bf16", "gradient_accumulation": 4, "parallelism": "zero3"},
        ),
        Sample(
            command="accelerate launch --config_file a.yaml train.py",
            files={
                "a.yaml": "distributed_type: DEEPSPEED\n"
                "deepspeed_config: {deepspeed_config_file: d.json}\n",
                "d.json": '{"zero_optimization": {"stage": 1}}',
                "train.py": "print('nothing')\n",
            },
            claims={"parallelism": "zero1"},
        ),
        Sample(
            command="accelerate launch --config_file a.yaml train.py",
            files={
                "a.yaml": "distributed_type: MULTI_GPU\nmixed_precision: 'no'\n",
                "train.py": "from accelerate import Accelerator\n"
                "Accelerator(mixed_precision='bf16', gradient_accumulation_steps=2)\n",
            },
            claims={"precision": "bf16", "gradient_accumulation": 2, "parallelism": "ddp"},
        ),
        Sample(
            command="accelerate launch --use_fsdp --num_processes 8 train.py",
            files={"train.py": "print('nothing')\n"},
            claims={"parallelism": "fsdp"},
        ),
    ),
)

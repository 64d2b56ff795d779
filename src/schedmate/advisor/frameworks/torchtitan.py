"""torchtitan: `-m torchtitan.train --job.config_file x.toml --training.steps 100`."""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import command_line
from schedmate.advisor.frameworks.rules import (
    converted,
    either,
    model_parallel,
    of_path,
    of_program,
)
from schedmate.advisor.interpret.python.values import Value

_SHARDS = (
    "parallelism.data_parallel_shard_degree training.data_parallel_shard_degree "
    "training.data_parallel_degree"
)


def _model(settings: Settings) -> Value | None:
    """`llama3` of flavor `8B`; newer ones have a module and a config of it."""
    name = settings.first("model.name module")
    flavor = settings.first("model.flavor")
    if flavor is None or name is None:
        return settings.first("config") or name
    return Value(f"{name.data}-{flavor.data}", (*name.lines, *flavor.lines), name.source)


def _saves(settings: Settings) -> bool:
    return settings.is_on("checkpoint.enable") or settings.is_on("checkpoint.enable_checkpoint")


def _interval(settings: Settings) -> Value | None:
    return settings.first("checkpoint.interval") if _saves(settings) else None


def _folder(settings: Settings) -> Value | None:
    folder, above = settings.first("checkpoint.folder"), settings.first("job.dump_folder")
    if not _saves(settings) or folder is None or above is None:
        return folder if _saves(settings) else None
    path = f"{str(above.data).rstrip('/')}/{folder.data}"
    return Value(path, (*folder.lines, *above.lines), folder.source)


def _sharded(settings: Settings) -> Value | None:
    shards = settings.first(_SHARDS)
    return None if shards is None or shards.data in (0, 1) else restated(shards, "fsdp")


_CONFIG = """\
[job]
dump_folder = "./outputs"
[model]
name = "llama3"
flavor = "8B"
[optimizer]
name = "AdamW"
lr = 3e-4
[training]
local_batch_size = 1
seq_len = 8192
steps = 1000
dataset = "c4"
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
[checkpoint]
enable_checkpoint = true
folder = "checkpoint"
interval = 500
"""
_CLAIMS = {
    "framework": "torchtitan",
    "task": "language_modeling",
    "model": "llama3-8B",
    "dataset": "c4",
    "batch_size": 1,
    "sequence_length": 8192,
    "max_steps": 20,
    "optimizer": "AdamW",
    "learning_rate": 3e-4,
    "parallelism": "fsdp",
    "checkpoint_dir": "./outputs/checkpoint",
    "checkpoint_every": 500,
}

FRAMEWORK = Framework(
    settings={
        "framework": of_program("torchtitan"),
        "task": of_program("language_modeling"),
        "model": _model,
        "dataset": converted(of_path, "training.dataset dataloader.dataset"),
        "batch_size": "training.local_batch_size training.batch_size",
        "sequence_length": "training.seq_len training.max_context_length",
        "max_steps": "training.steps",
        "optimizer": "optimizer.name",
        "learning_rate": "optimizer.lr",
        "precision": "training.mixed_precision_param",
        "checkpoint_every": _interval,
        "checkpoint_dir": _folder,
        "parallelism": either(
            model_parallel(
                "parallelism.tensor_parallel_degree training.tensor_parallel_degree",
                "parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree",
            ),
            _sharded,
        ),
    },
    program=command_line(config="job.config_file config_file"),
    samples=(
        Sample(
            command="python -m torchtitan.train --job.config_file t/8b.toml --training.steps 20",
            files={"t/8b.toml": _CONFIG},
            claims=_CLAIMS,
        ),
        Sample(
            command="torchrun ./train.py --job.config_file t/8b.toml --training.steps 20",
            files={"t/8b.toml": _CONFIG, "train.py": "from torchtitan.config import JobConfig\n"},
            claims=_CLAIMS,
        ),
        Sample(
            command="python -m torchtitan.train --job.config_file=8b.toml --training.steps 20 "
            "--parallelism.tensor_parallel_degree=2 --parallelism.pipeline-parallel-degree 4 "
            "--checkpoint.enable_checkpoint false",
            files={"8b.toml": _CONFIG},
            claims={
                **{key: _CLAIMS[key] for key in _CLAIMS if not key.startswith("checkpoint")},
                "parallelism": "3d",
            },
        ),
    ),
)

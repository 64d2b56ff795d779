"""torchtitan: `-m torchtitan.train --job.config_file x.toml --training.steps 100`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    is_true,
    known_by,
    of_path,
    renamed,
    saying,
    stated,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_option, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "batch_size": "training.local_batch_size training.batch_size",
    "sequence_length": "training.seq_len training.max_context_length",
    "max_steps": "training.steps",
    "optimizer": "optimizer.name",
    "learning_rate": "optimizer.lr",
    "precision": "training.mixed_precision_param",
}
_DEGREES = {
    "tp": "parallelism.tensor_parallel_degree training.tensor_parallel_degree",
    "pp": "parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree",
}
_SHARDS = (
    "parallelism.data_parallel_shard_degree training.data_parallel_shard_degree "
    "training.data_parallel_degree"
)


def torchtitan(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    file = config_option(given.options, "job.config_file config_file", context)
    config = with_options(file, given.options, context)
    yield known_by(run, "framework", "torchtitan")
    yield known_by(run, "task", "language_modeling")
    yield from told(config, _NAMES)
    yield from saying("dataset", of_path(first(config, "training.dataset dataloader.dataset")))
    yield from saying("model", _model(config))
    yield from _checkpoints(config)
    yield from _parallelism(config)


def _model(config: Value) -> Value | None:
    """`llama3` of flavor `8B`; newer ones have a module and a config of it."""
    name = first(config, "model.name module")
    flavor = first(config, "model.flavor")
    if flavor is None or name is None:
        registered = stated(select(config, "config"))
        return name if registered is None else registered
    return Value(f"{name.data}-{flavor.data}", (*name.lines, *flavor.lines), name.source)


def _checkpoints(config: Value) -> Iterator[Claim]:
    enabled = first(config, "checkpoint.enable checkpoint.enable_checkpoint")
    if enabled is None or not is_true(enabled):
        return
    yield from saying("checkpoint_every", first(config, "checkpoint.interval"))
    folder = first(config, "checkpoint.folder")
    above = first(config, "job.dump_folder")
    if folder is not None and above is not None:
        path = f"{str(above.data).rstrip('/')}/{folder.data}"
        folder = Value(path, (*folder.lines, *above.lines), folder.source)
    yield from saying("checkpoint_dir", folder)


def _parallelism(config: Value) -> Iterator[Claim]:
    degrees = {
        way: value
        for way, names in _DEGREES.items()
        if (value := first(config, names)) is not None and _more_than_one(value)
    }
    if degrees:
        way = "3d" if len(degrees) > 1 else next(iter(degrees))
        lines = tuple(line for value in degrees.values() for line in value.lines)
        source = next(iter(degrees.values())).source
        yield Claim(field="parallelism", value=Value(way, lines, source))
        return
    shards = first(config, _SHARDS)
    if shards is not None and shards.data not in (0, 1):
        yield Claim(field="parallelism", value=renamed(shards, "fsdp"))


def _more_than_one(value: Value) -> bool:
    return isinstance(value.data, (int, float)) and value.data > 1

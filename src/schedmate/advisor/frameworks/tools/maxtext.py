"""MaxText: `-m MaxText.train configs/base.yml run_name=… steps=… per_device_batch_size=…`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    first,
    known_by,
    of_path,
    renamed,
    saying,
    stated,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.frameworks.tools.configs_named import config_at, named_config, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import merge, select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "batch_size": "per_device_batch_size",
    "gradient_accumulation": "gradient_accumulation_steps",
    "max_steps": "steps",
    "sequence_length": "max_target_length",
    "optimizer": "opt_type",
    "learning_rate": "learning_rate",
    "precision": "dtype",
    "checkpoint_dir": "base_output_directory",
    "vocab_size": "vocab_size",
}
_ARCHITECTURE = {
    "d_model": "base_emb_dim",
    "n_layer": "base_num_decoder_layers",
    "n_head": "base_num_query_heads",
}
_NO_MODEL = "default"


def maxtext(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    config = with_options(named_config(given.positional, context), given.options, context)
    model = stated(select(config, "model_name"))
    if model is not None and model.data != _NO_MODEL:
        config = merge(merge(config, _sizes(model, given.positional, context)), given.options)
        yield Claim(field="model", value=model)
    yield known_by(run, "framework", "jax")
    yield known_by(run, "task", "language_modeling")
    yield from told(config, _NAMES)
    scaled = stated(select(config, "global_parameter_scale"))
    if scaled is None or scaled.data == 1:
        yield from told(config, _ARCHITECTURE)
    yield from saying("dataset", _dataset(config))
    yield from _checkpoints(config)


def _sizes(model: Value, positional: tuple[Word, ...], context: Context) -> Value:
    """What a named model changes stands in `models/` beside the config."""
    beside = posixpath.dirname(positional[0].text) if positional else ""
    return config_at(posixpath.join(beside, "models", f"{model.data}.yml"), context)


def _dataset(config: Value) -> Value | None:
    """`c4/en:3.0.1` is c4/en in a version."""
    kind = stated(select(config, "dataset_type"))
    if kind is not None and kind.data == "hf":
        return of_path(first(config, "hf_path"))
    named = first(config, "dataset_name")
    if named is None or (kind is not None and kind.data == "synthetic"):
        return None
    return renamed(named, str(named.data).partition(":")[0])


def _checkpoints(config: Value) -> Iterator[Claim]:
    enabled = select(config, "enable_checkpointing")
    if enabled is None or enabled.data is not False:
        yield from saying("checkpoint_every", first(config, "checkpoint_period"))

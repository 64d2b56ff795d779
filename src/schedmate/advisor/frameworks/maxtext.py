"""MaxText: `-m MaxText.train configs/base.yml run_name=… steps=… per_device_batch_size=…`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.command_line import config_at, named_config, read_command_line
from schedmate.advisor.frameworks.contract import Framework, Rule, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.rules import of_path, of_program
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.options.configs import merge, select

_NO_MODEL = "default"


def _door(reading: Reading) -> Iterator[Settings]:
    """The file, what a named model changes (`models/NAME.yml` beside it), the command line."""
    if reading.context is None:
        return
    given = read_command_line(reading.run.arguments)
    tree = named_config(given.positional, reading.context)
    model = select(merge(tree, given.options), "model_name")
    if model is not None and isinstance(model.data, str) and model.data != _NO_MODEL:
        beside = posixpath.dirname(given.positional[0].text) if given.positional else ""
        path = posixpath.join(beside, "models", f"{model.data}.yml")
        tree = merge(tree, config_at(path, reading.context))
    yield settings_of(reading, given, tree)


def _model(settings: Settings) -> Value | None:
    value = settings.first("model_name")
    return None if value is None or value.data == _NO_MODEL else value


def _unscaled(name: str) -> Rule:
    """The sizes of the config, unless a factor changes all of them."""

    def rule(settings: Settings) -> Value | None:
        scale = settings.first("global_parameter_scale")
        return settings.first(name) if scale is None or scale.data == 1 else None

    return rule


def _dataset(settings: Settings) -> Value | None:
    """`c4/en:3.0.1` is c4/en in a version."""
    kind = settings.text("dataset_type")
    named = settings.first("hf_path" if kind == "hf" else "dataset_name")
    if named is None or kind == "synthetic":
        return None
    if kind == "hf":
        return of_path(named)
    return restated(named, str(named.data).partition(":")[0])


def _period(settings: Settings) -> Value | None:
    enabled = settings.get("enable_checkpointing")
    off = enabled is not None and enabled.data is False
    return None if off else settings.first("checkpoint_period")


_BASE = (
    "model_name: default\nbase_emb_dim: 2048\nbase_num_decoder_layers: 16\n"
    "steps: 150_001\nper_device_batch_size: 12.0\nlearning_rate: 3.e-5\n"
    "dataset_type: tfds\ndataset_name: 'c4/en:3.0.1'\ncheckpoint_period: 10_000\n"
)
_FILES = {
    "src/configs/base.yml": _BASE,
    "src/configs/models/llama2-7b.yml": "base_emb_dim: 4096\nbase_num_decoder_layers: 32\n",
}
_CLAIMS = {
    "framework": "jax",
    "task": "language_modeling",
    "batch_size": 12.0,
    "max_steps": 10,
    "learning_rate": 3e-5,
    "dataset": "c4/en",
    "d_model": 2048,
    "n_layer": 16,
    "checkpoint_every": 10_000,
}

FRAMEWORK = Framework(
    settings={
        "framework": of_program("jax"),
        "task": of_program("language_modeling"),
        "model": _model,
        "dataset": _dataset,
        "batch_size": "per_device_batch_size",
        "gradient_accumulation": "gradient_accumulation_steps",
        "max_steps": "steps",
        "sequence_length": "max_target_length",
        "optimizer": "opt_type",
        "learning_rate": "learning_rate",
        "precision": "dtype",
        "checkpoint_dir": "base_output_directory",
        "checkpoint_every": _period,
        "vocab_size": "vocab_size",
        "d_model": _unscaled("base_emb_dim"),
        "n_layer": _unscaled("base_num_decoder_layers"),
        "n_head": _unscaled("base_num_query_heads"),
    },
    program=_door,
    samples=(
        Sample(
            command="python -m MaxText.train src/configs/base.yml run_name=x steps=10",
            files=_FILES,
            claims=_CLAIMS,
        ),
        Sample(
            command="python -m MaxText.train src/configs/base.yml steps=10 model_name=llama2-7b "
            "enable_checkpointing=false",
            files=_FILES,
            claims={
                **{key: _CLAIMS[key] for key in _CLAIMS if key != "checkpoint_every"},
                "model": "llama2-7b",
                "d_model": 4096,
                "n_layer": 32,
            },
        ),
        Sample(
            command="python -m maxtext.trainers.post_train.sft.train_sft base.yml steps=10",
            files={"base.yml": _BASE},
            claims=_CLAIMS,
        ),
    ),
)

"""torchtune: `tune run RECIPE --config x.yaml key=value`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import parts_of
from schedmate.advisor.frameworks.command_line import config_at, read_command_line
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.rules import converted, last_part, of_program, resumption
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.options.configs import select
from schedmate.advisor.sources.words import words

_RECIPES = "recipes/configs"
_SWITCHES = words("standalone no_python")
_BUILT_IN = re.compile(r"([a-z][\w.]{0,40})/([\d.]{1,6}[BMbm])_\w{1,60}")
_TUNED = re.compile(r"^(?:q?lora|qat|kd)_")
_WAYS = {"_distributed": "fsdp", "_single_device": "none"}


def _door(reading: Reading) -> Iterator[Settings]:
    """A config of the job's, else one that torchtune brings, where a copy of it lies here."""
    given = read_command_line(reading.run.arguments, switches=_SWITCHES)
    if [word.text for word in given.positional[:1]] not in ([], ["run"]) or not reading.context:
        return
    named = select(given.options, "config")
    path = None if named is None else named.data
    tree = config_at(path, reading.context)
    if isinstance(path, str) and _BUILT_IN.fullmatch(path) and not parts_of(tree):
        tree = config_at(f"{_RECIPES}/{path}.yaml", reading.context)
    yield settings_of(reading, given, tree)


def _model(settings: Settings) -> Value | None:
    """The builder's name without how it is tuned, else what the built-in config is called."""
    builder = converted(last_part, "model._component_ model")(settings)
    if builder is not None:
        return restated(builder, _TUNED.sub("", str(builder.data)))
    called = settings.first("config")
    match = _BUILT_IN.fullmatch(str(called.data)) if called is not None else None
    return None if called is None or match is None else restated(called, f"{match[1]}_{match[2]}")


def _dataset(settings: Settings) -> Value | None:
    """The hub's name where one is given, else that of the builder."""
    source = settings.first("dataset.source")
    if source is not None and not str(source.data).endswith(("json", "csv", "text")):
        return source
    builder = converted(last_part, "dataset._component_ dataset")(settings)
    return builder and restated(builder, str(builder.data).removesuffix("_dataset"))


def _recipe(settings: Settings) -> Value | None:
    """Distributed recipes shard with FSDP, those for a single device do nothing of the kind."""
    for word in settings.words:
        for ending, way in _WAYS.items():
            if word.text.removesuffix(".py").endswith(ending):
                return Value(way, word.evidence, source_of(word.evidence))
    return None


_CONFIG = """\
output_dir: /data/out
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 8192}
model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_rank: 8}
dataset: {_component_: torchtune.datasets.alpaca_cleaned_dataset}
optimizer: {_component_: torch.optim.AdamW, lr: 3e-4}
checkpointer: {output_dir: '${output_dir}'}
epochs: 1
batch_size: 2
max_steps_per_epoch: null
gradient_accumulation_steps: 8
dtype: bf16
resume_from_checkpoint: False
"""
_CLAIMS = {
    "framework": "torchtune",
    "task": "language_modeling",
    "model": "llama3_1_8b",
    "dataset": "alpaca_cleaned",
    "sequence_length": 8192,
    "batch_size": 2,
    "gradient_accumulation": 8,
    "epochs": 3,
    "optimizer": "AdamW",
    "learning_rate": 1e-4,
    "precision": "bf16",
    "checkpoint_dir": "/data/out",
    "resumes": False,
    "parallelism": "fsdp",
}

FRAMEWORK = Framework(
    settings={
        "framework": of_program("torchtune"),
        "task": of_program("language_modeling"),
        "model": _model,
        "dataset": _dataset,
        "sequence_length": "tokenizer.max_seq_len dataset.max_seq_len",
        "batch_size": "batch_size",
        "gradient_accumulation": "gradient_accumulation_steps",
        "epochs": "epochs",
        "optimizer": converted(last_part, "optimizer._component_ optimizer"),
        "learning_rate": "optimizer.lr",
        "precision": "dtype",
        "checkpoint_dir": "output_dir checkpointer.output_dir",
        "resumes": resumption("resume_from_checkpoint"),
        "parallelism": _recipe,
    },
    program=_door,
    samples=(
        Sample(
            command="tune run --nproc_per_node 4 lora_finetune_distributed --config my/8B.yaml "
            "epochs=3 optimizer.lr=1e-4",
            files={"my/8B.yaml": _CONFIG},
            claims=_CLAIMS,
        ),
        Sample(
            command="tune run lora_finetune_single_device --config llama3/8B_lora batch_size=4",
            claims={
                "framework": "torchtune",
                "task": "language_modeling",
                "model": "llama3_8B",
                "batch_size": 4,
                "parallelism": "none",
            },
        ),
        Sample(
            command="tune run lora_finetune_single_device --config llama3_1/8B_lora epochs=3 "
            "optimizer.lr=1e-4",
            files={"recipes/configs/llama3_1/8B_lora.yaml": _CONFIG},
            claims={**_CLAIMS, "parallelism": "none"},
        ),
        Sample(command="tune cp llama3/8B_lora mine.yaml", claims={}),
    ),
)

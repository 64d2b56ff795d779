"""MosaicML's composer, whose Trainer takes lengths with units, and llm-foundry on top of it."""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated
from schedmate.advisor.frameworks.doors import command_line, constructed
from schedmate.advisor.frameworks.rules import (
    chosen,
    converted,
    counted,
    either,
    of_path,
    of_program,
    present,
)
from schedmate.advisor.interpret.python.values import Value

_PRECISIONS = {"amp_bf16": "bf16", "amp_fp16": "fp16", "amp_fp8": "fp8", "fp32": "fp32"}
_DATASET = (
    "train_loader.dataset.hf_name train_loader.dataset.remote train_loader.dataset.local "
    "variables.data_local"
)


def _bare(value: Value) -> Value | None:
    """A bare number is epochs."""
    return value if isinstance(value.data, int) else None


def _resumes(settings: Settings) -> Value | None:
    value = settings.first("autoresume")
    return restated(value, True) if value is not None and settings.is_on("autoresume") else None


FRAMEWORK = Framework(
    settings={
        "framework": of_program("composer"),
        "task": of_program("language_modeling"),
        "model": "model.pretrained_model_name_or_path model.name",
        "d_model": "model.d_model",
        "n_layer": "model.n_layers",
        "n_head": "model.n_heads",
        "vocab_size": "model.vocab_size",
        "sequence_length": "max_seq_len model.max_seq_len",
        "dataset": converted(of_path, _DATASET),
        "batch_size": "device_train_microbatch_size",
        "gradient_accumulation": "device_train_grad_accum",
        "optimizer": "optimizer.name",
        "learning_rate": "optimizer.lr",
        "epochs": either(counted("ep", "max_duration"), converted(_bare, "max_duration")),
        "max_steps": counted("ba", "max_duration"),
        "checkpoint_dir": "save_folder",
        "checkpoint_every": either(counted("ba", "save_interval"), counted("ep", "save_interval")),
        "precision": chosen("precision", _PRECISIONS),
        "resumes": _resumes,
        "parallelism": present("fsdp_config parallelism_config", "fsdp"),
    },
    program=command_line(file_at=10),
    calls=constructed(r"^Trainer$", ("composer",)),
    samples=(
        Sample(
            command="composer train/train.py y/mpt.yaml max_duration=10ba "
            "variables.max_seq_len=1024",
            files={
                "train/train.py": "from llmfoundry.command_utils import train_from_yaml\n",
                "y/mpt.yaml": "variables: {max_seq_len: 2048}\n"
                "max_seq_len: ${variables.max_seq_len}\n"
                "model: {name: mpt_causal_lm, d_model: 768, n_heads: 12, n_layers: 12}\n"
                "train_loader: {dataset: {local: ./my-copy-c4}}\n"
                "optimizer: {name: decoupled_adamw, lr: 6.0e-4}\n"
                "max_duration: 4800ba\ndevice_train_microbatch_size: auto\nprecision: amp_bf16\n"
                "fsdp_config: {sharding_strategy: FULL_SHARD}\nsave_interval: 500ba\n",
            },
            claims={
                "framework": "composer",
                "task": "language_modeling",
                "model": "mpt_causal_lm",
                "d_model": 768,
                "n_head": 12,
                "n_layer": 12,
                "sequence_length": 1024,
                "dataset": "my-copy-c4",
                "optimizer": "decoupled_adamw",
                "learning_rate": 6e-4,
                "max_steps": 10,
                "checkpoint_every": 500,
                "precision": "bf16",
                "parallelism": "fsdp",
            },
        ),
        Sample(
            command="composer train.py",
            files={
                "train.py": "from composer import Trainer\n"
                "Trainer(model=m, max_duration='10ep', save_folder='c', save_interval='1ep',\n"
                "  precision='amp_fp16', autoresume=True).fit()\n",
            },
            claims={
                "epochs": 10,
                "checkpoint_dir": "c",
                "checkpoint_every": 1,
                "precision": "fp16",
                "resumes": True,
            },
        ),
    ),
)

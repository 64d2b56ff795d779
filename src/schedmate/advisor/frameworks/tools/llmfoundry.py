"""LLM Foundry and composer: `composer train.py config.yaml key=value`."""

from __future__ import annotations

import re
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
from schedmate.advisor.frameworks.tools.configs_named import named_config, with_options
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import select
from schedmate.advisor.settle.claim import Claim

_NAMES = {
    "model": "model.pretrained_model_name_or_path model.name",
    "d_model": "model.d_model",
    "n_layer": "model.n_layers",
    "n_head": "model.n_heads",
    "vocab_size": "model.vocab_size",
    "sequence_length": "max_seq_len model.max_seq_len",
    "batch_size": "device_train_microbatch_size",
    "gradient_accumulation": "device_train_grad_accum",
    "optimizer": "optimizer.name",
    "learning_rate": "optimizer.lr",
    "checkpoint_dir": "save_folder",
    "resumes": "autoresume",
}
_PRECISIONS = {"amp_bf16": "bf16", "amp_fp16": "fp16", "amp_fp8": "fp8", "fp32": "fp32"}
_DATASET = (
    "train_loader.dataset.hf_name train_loader.dataset.remote train_loader.dataset.local "
    "variables.data_local"
)
_COUNTED = re.compile(r"(\d{1,15})(ep|ba)")


def llmfoundry(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_command_line(run.arguments)
    file = named_config(given.positional, context)
    config = with_options(file, given.options, context)
    yield known_by(run, "framework", "composer")
    yield known_by(run, "task", "language_modeling")
    yield from told(config, _NAMES)
    yield from saying("dataset", of_path(first(config, _DATASET)))
    yield from _length(stated(select(config, "max_duration")))
    interval = stated(select(config, "save_interval"))
    every = _COUNTED.fullmatch(str(interval.data)) if interval is not None else None
    if interval is not None and every is not None:
        yield Claim(field="checkpoint_every", value=renamed(interval, int(every[1])))
    precision = stated(select(config, "precision"))
    if precision is not None and precision.data in _PRECISIONS:
        yield Claim(field="precision", value=renamed(precision, _PRECISIONS[precision.data]))
    fsdp = select(config, "fsdp_config")
    if fsdp is not None and isinstance(fsdp.data, Table) and fsdp.data.parts:
        yield Claim(field="parallelism", value=renamed(fsdp, "fsdp"))


def _length(duration: Value | None) -> Iterator[Claim]:
    """`1ep` are epochs, `4800ba` steps."""
    counted = _COUNTED.fullmatch(str(duration.data)) if duration is not None else None
    if duration is not None and counted is not None:
        field = "epochs" if counted[2] == "ep" else "max_steps"
        yield Claim(field=field, value=renamed(duration, int(counted[1])))

"""fairseq: `fairseq-train DATA --arch …`, and `fairseq-hydra-train --config-dir … a.b=c`."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.tools.base import (
    directory_name,
    first,
    known_by,
    only_one,
    renamed,
    saying,
    stated,
    switched,
    told,
)
from schedmate.advisor.frameworks.tools.command_line import read_command_line
from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.options.configs import compose, read_arguments, select
from schedmate.advisor.options.configs.words import value_of
from schedmate.advisor.settle.claim import Claim

_FLAGS = {
    "model": "arch a",
    "batch_size": "batch_size max_sentences",
    "epochs": "max_epoch",
    "max_steps": "max_update",
    "optimizer": "optimizer",
    "sequence_length": "tokens_per_sample",
    "checkpoint_dir": "save_dir",
    "checkpoint_every": "save_interval_updates",
    "early_stopping": "patience",
    "d_model": "encoder_embed_dim decoder_embed_dim",
    "n_layer": "encoder_layers decoder_layers",
    "n_head": "encoder_attention_heads decoder_attention_heads",
}
_SETTINGS = {
    "model": "model._name",
    "batch_size": "dataset.batch_size",
    "epochs": "optimization.max_epoch",
    "max_steps": "optimization.max_update",
    "optimizer": "optimizer._name",
    "sequence_length": "task.tokens_per_sample",
    "checkpoint_dir": "checkpoint.save_dir",
    "checkpoint_every": "checkpoint.save_interval_updates",
    "early_stopping": "checkpoint.patience",
}
_COMMON_SETTINGS = (
    "task._name",
    "optimization.lr",
    "optimization.update_freq",
    "distributed_training.ddp_backend",
)
_TASKS = {
    "translation": "translation",
    "multilingual_translation": "translation",
    "language_modeling": "language_modeling",
    "masked_lm": "language_modeling",
    "audio_pretraining": "speech",
    "audio_finetuning": "speech",
    "speech_to_text": "speech",
    "sentence_prediction": "sequence_classification",
}
_WAYS = {
    "fully_sharded": "fsdp",
    "c10d": "ddp",
    "pytorch_ddp": "ddp",
    "legacy_ddp": "ddp",
    "no_c10d": "ddp",
}
_SWITCHES = frozenset(
    {
        "fp16",
        "bf16",
        "memory_efficient_fp16",
        "memory_efficient_bf16",
        "no_epoch_checkpoints",
        "share_decoder_input_output_embed",
        "share_all_embeddings",
        "eval_bleu",
        "eval_bleu_print_samples",
        "no_progress_bar",
        "cpu",
    }
)


def fairseq_train(run: PythonRun, context: Context) -> Iterator[Claim]:
    del context
    given = read_command_line(run.arguments, switches=_SWITCHES)
    options = given.options
    yield known_by(run, "framework", "fairseq")
    data = given.word(0)
    yield from saying("dataset", directory_name(value_of(data)) if data is not None else None)
    yield from told(options, _FLAGS)
    yield from _shared(run, options, ("task", "lr", "update_freq", "ddp_backend"), by_flags=True)
    yield from switched(
        options,
        "precision",
        {"bf16": "bf16", "memory_efficient_bf16": "bf16"}
        | {"fp16": "fp16", "memory_efficient_fp16": "fp16"},
    )


def fairseq_hydra_train(run: PythonRun, context: Context) -> Iterator[Claim]:
    given = read_arguments(run.arguments)
    directory = given.config_dir or given.config_path
    config = compose(
        context,
        directory.text if directory is not None else "config",
        given.config_name.text if given.config_name is not None else None,
        given.overrides,
    )
    yield known_by(run, "framework", "fairseq")
    yield from saying("dataset", directory_name(first(config, "task.data")))
    yield from told(config, _SETTINGS)
    yield from _shared(run, config, _COMMON_SETTINGS)
    yield from switched(config, "precision", {"common.bf16": "bf16", "common.fp16": "fp16"})


def _shared(
    run: PythonRun, config: Value, names: tuple[str, str, str, str], *, by_flags: bool = False
) -> Iterator[Claim]:
    """Rates and update frequencies are lists, one for each epoch; only one is one value.

    Told by flags, it translates if they name no task.
    """
    task, rate, frequency, backend = (select(config, name) for name in names)
    yield from saying("learning_rate", only_one(rate))
    yield from saying("gradient_accumulation", only_one(frequency))
    name = stated(task)
    if name is not None and name.data in _TASKS:
        yield Claim(field="task", value=renamed(name, _TASKS[name.data]))
    elif name is None and by_flags:
        yield known_by(run, "task", "translation")
    way = stated(backend)
    if way is not None and way.data in _WAYS:
        yield Claim(field="parallelism", value=renamed(way, _WAYS[way.data]))

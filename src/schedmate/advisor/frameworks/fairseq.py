"""fairseq: `fairseq-train DATA --arch …`, `fairseq-hydra-train --config-dir … a.b=c`, its forks."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.command_line import read_command_line
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings
from schedmate.advisor.frameworks.doors import options_like
from schedmate.advisor.frameworks.rules import (
    by_program,
    chosen,
    directory_name,
    either,
    of_program,
    single,
    switched,
)
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.options.configs import compose, read_arguments
from schedmate.advisor.options.configs.building import value_of
from schedmate.advisor.sources.words import words

_MARKS = words(
    "max_tokens max_update update_freq arch criterion task max_epoch lr_scheduler "
    "save_interval_updates max_sentences warmup_updates"
)
_SWITCHES = words(
    "fp16 bf16 memory_efficient_fp16 memory_efficient_bf16 no_epoch_checkpoints eval_bleu "
    "share_decoder_input_output_embed share_all_embeddings eval_bleu_print_samples "
    "no_progress_bar cpu"
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
_BACKENDS = {
    "fully_sharded": "fsdp",
    "c10d": "ddp",
    "pytorch_ddp": "ddp",
    "legacy_ddp": "ddp",
    "no_c10d": "ddp",
}


def _started(reading: Reading) -> Iterator[Settings]:
    """Flags, or with Hydra a config and overrides."""
    if "hydra" in f"{reading.run.entry.name} {reading.run.command.text}":
        yield from _composed(reading)
        return
    given = read_command_line(reading.run.arguments, switches=_SWITCHES)
    yield Settings(given.options, reading, words=given.positional, started=True)


def _composed(reading: Reading) -> Iterator[Settings]:
    if reading.context is None:
        return
    given = read_arguments(reading.run.arguments)
    directory = given.config_dir or given.config_path
    yield Settings(
        compose(
            reading.context,
            directory.text if directory is not None else "config",
            given.config_name.text if given.config_name is not None else None,
            given.overrides,
        ),
        reading,
        started=True,
    )


def _task(settings: Settings) -> Value | None:
    """`fairseq-train` translates if its flags name no task."""
    named = settings.first("task task._name")
    if named is None and settings.words:
        return by_program(settings, "translation")
    return chosen("task task._name", _TASKS)(settings)


def _dataset(settings: Settings) -> Value | None:
    """The first word, which is a directory of binarised data."""
    data = value_of(settings.words[0]) if settings.words else settings.first("task.data")
    return None if data is None else directory_name(data)


FRAMEWORK = Framework(
    settings={
        "framework": of_program("fairseq"),
        "task": _task,
        "dataset": _dataset,
        "model": "arch a model._name",
        "batch_size": "batch_size max_sentences dataset.batch_size",
        "epochs": "max_epoch optimization.max_epoch",
        "max_steps": "max_update optimization.max_update",
        "optimizer": "optimizer optimizer._name",
        "learning_rate": either(single("lr"), single("optimization.lr")),
        "gradient_accumulation": either(single("update_freq"), single("optimization.update_freq")),
        "sequence_length": "tokens_per_sample task.tokens_per_sample",
        "checkpoint_dir": "save_dir checkpoint.save_dir",
        "checkpoint_every": "save_interval_updates checkpoint.save_interval_updates",
        "early_stopping": "patience checkpoint.patience",
        "d_model": "encoder_embed_dim decoder_embed_dim",
        "n_layer": "encoder_layers decoder_layers",
        "n_head": "encoder_attention_heads decoder_attention_heads",
        "precision": switched(
            {
                "bf16": "bf16",
                "memory_efficient_bf16": "bf16",
                "fp16": "fp16",
                "memory_efficient_fp16": "fp16",
                "common.bf16": "bf16",
                "common.fp16": "fp16",
            }
        ),
        "parallelism": chosen("ddp_backend distributed_training.ddp_backend", _BACKENDS),
    },
    program=_started,
    options=options_like(_MARKS, enough=4, needs="arch"),
    samples=(
        Sample(
            command="fairseq-train data-bin/iwslt14/de-en --arch transformer_iwslt_de_en "
            "--optimizer adam --lr 5e-4 --max-tokens 4096 --fp16 --max-update 50000 "
            "--save-dir ckpt --update-freq 4 --share-decoder-input-output-embed "
            "--task translation --ddp-backend no_c10d",
            claims={
                "framework": "fairseq",
                "task": "translation",
                "dataset": "de-en",
                "model": "transformer_iwslt_de_en",
                "optimizer": "adam",
                "learning_rate": 5e-4,
                "max_steps": 50000,
                "gradient_accumulation": 4,
                "checkpoint_dir": "ckpt",
                "precision": "fp16",
                "parallelism": "ddp",
            },
        ),
        Sample(
            command="fairseq-train data --arch transformer --encoder-layers 12",
            claims={
                "framework": "fairseq",
                "task": "translation",
                "model": "transformer",
                "n_layer": 12,
            },
        ),
        Sample(
            command="fairseq-train data-bin/wikitext-103 --arch lm --task my_own",
            claims={"framework": "fairseq", "dataset": "wikitext-103", "model": "lm"},
        ),
        Sample(
            command="fairseq-hydra-train task.data=/data/libri --config-dir conf/ft "
            "--config-name base",
            files={
                "conf/ft/base.yaml": "common: {fp16: true}\n"
                "task:\n  _name: audio_finetuning\n  data: ???\n"
                "optimization: {max_update: 80000, lr: [0.00003], update_freq: [4, 8]}\n"
                "optimizer: {_name: adam}\nmodel: {_name: wav2vec_ctc}\n"
                "dataset: {max_tokens: 3200000}\n",
            },
            claims={
                "framework": "fairseq",
                "task": "speech",
                "dataset": "libri",
                "model": "wav2vec_ctc",
                "optimizer": "adam",
                "learning_rate": 0.00003,
                "max_steps": 80000,
                "precision": "fp16",
            },
        ),
    ),
)

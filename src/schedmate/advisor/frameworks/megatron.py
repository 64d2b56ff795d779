"""Megatron's options, which have the same names in every fork of it, parsed or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import derived, truth_of
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.frameworks.megatron_model import megatron_model, number
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_MARKS = words(
    "tensor_model_parallel_size pipeline_model_parallel_size micro_batch_size train_iters "
    "num_attention_heads global_batch_size train_samples use_distributed_optimizer "
    "make_vocab_size_divisible_by tokenizer_type seq_length sequence_parallel"
)
_ITS_OWN = ("tensor_model_parallel_size", "pipeline_model_parallel_size")
_ENOUGH = 3
_FIELDS = {
    "n_layer": "num_layers",
    "d_model": "hidden_size",
    "n_head": "num_attention_heads",
    "vocab_size": "vocab_size padded_vocab_size pad_vocab_size_to",
    "sequence_length": "seq_length",
    "batch_size": "micro_batch_size",
    "max_steps": "train_iters",
    "learning_rate": "lr",
    "optimizer": "optimizer",
    "checkpoint_dir": "save",
    "checkpoint_every": "save_interval",
}


def megatron(reading: Reading) -> Iterator[Claim]:
    options = {name.replace("-", "_"): value for name, value in reading.options.items()}
    if len(_MARKS & options.keys()) < _ENOUGH:
        return
    for field, names in _FIELDS.items():
        yield from _first(field, options, names)
    yield from megatron_model(reading, options)
    yield from _driven(reading, options)
    yield from _samples(options)
    yield from _precision(options)
    yield from _parallelism(options)
    yield from _resumes(options)


def _driven(reading: Reading, options: Mapping[str, Value]) -> Iterator[Claim]:
    """Where its code is elsewhere, the options alone tell whose they are."""
    lines = [line for name in _ITS_OWN if name in options for line in options[name].lines]
    if reading.run.entry.source is None and lines:
        shown = tuple(dict.fromkeys((*lines[:2], *reading.run.command.evidence)))
        yield Claim(field="framework", value=Value("megatron", shown), confidence=0.8)


def _first(field: str, options: Mapping[str, Value], names: str) -> Iterator[Claim]:
    for name in names.split():
        value = options.get(name)
        if value is not None and value.known and value.data is not None:
            yield Claim(field=field, value=value)
            return


def _samples(options: Mapping[str, Value]) -> Iterator[Claim]:
    """A length given in samples is so many global batches."""
    samples, batch = options.get("train_samples"), options.get("global_batch_size")
    count, size = number(samples), number(batch)
    if (
        samples is not None
        and batch is not None
        and count
        and size
        and not options.get("train_iters")
    ):
        yield Claim(field="max_steps", value=derived(int(count // size), samples, batch))


def _precision(options: Mapping[str, Value]) -> Iterator[Claim]:
    for name, precision in (
        ("fp8_format", "fp8"),
        ("fp8", "fp8"),
        ("bf16", "bf16"),
        ("fp16", "fp16"),
    ):
        value = options.get(name)
        if value is not None and truth_of(value) is True:
            yield Claim(field="precision", value=Value(precision, value.lines, value.source))
            return


def _parallelism(options: Mapping[str, Value]) -> Iterator[Claim]:
    sizes = [
        (way, value)
        for way, name in (
            ("tp", "tensor_model_parallel_size"),
            ("pp", "pipeline_model_parallel_size"),
        )
        if (value := options.get(name)) is not None and (number(value) or 0) > 1
    ]
    lines = tuple(line for _, value in sizes for line in value.lines)
    if sizes:
        way = "3d" if len(sizes) > 1 else sizes[0][0]
        yield Claim(field="parallelism", value=Value(way, lines, sizes[0][1].source))
    elif truth_of(options.get("use_distributed_optimizer")) is True:
        value = options["use_distributed_optimizer"]
        yield Claim(
            field="parallelism",
            value=Value("zero1", value.lines, value.source),
            reached=Reached.UNDECIDED,
        )


def _resumes(options: Mapping[str, Value]) -> Iterator[Claim]:
    """It loads from where it saves whenever there is something."""
    save, load = options.get("save"), options.get("load")
    if save is not None and load is not None and load.known and save.data == load.data:
        yield Claim(field="resumes", value=Value(True, load.lines, load.source))


FRAMEWORK = Framework(readers=(megatron,))

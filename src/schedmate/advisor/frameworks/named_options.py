"""Trainers whose options have fixed names, also where their own code is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import first_of, truth_of
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_FAIRSEQ_MARKS = words(
    "max_tokens max_update update_freq arch criterion task max_epoch lr_scheduler "
    "save_interval_updates max_sentences warmup_updates"
)
_ENOUGH = 4
_FAIRSEQ = {
    "model": "arch",
    "batch_size": "batch_size max_sentences",
    "max_steps": "max_update",
    "epochs": "max_epoch",
    "learning_rate": "lr",
    "optimizer": "optimizer",
    "checkpoint_dir": "save_dir",
    "checkpoint_every": "save_interval_updates",
    "sequence_length": "tokens_per_sample",
}


def fairseq(reading: Reading) -> Iterator[Claim]:
    """`--max-tokens` is no batch size: how many samples it holds depends on their lengths."""
    options = plain_names(reading.options)
    if len(_FAIRSEQ_MARKS & options.keys()) >= _ENOUGH and "arch" in options:
        yield from fairseq_said(options)


def fairseq_said(options: Mapping[str, Value]) -> Iterator[Claim]:
    for field, names in _FAIRSEQ.items():
        yield from _first(field, options, names)
    yield from _first("gradient_accumulation", options, "update_freq")
    for name in ("bf16", "fp16"):
        value = options.get(name)
        if value is not None and truth_of(value) is True:
            yield Claim(field="precision", value=Value(name, value.lines, value.source))
            break


def plain_names(options: Mapping[str, Value]) -> dict[str, Value]:
    return {name.lstrip("-").replace("-", "_"): value for name, value in options.items()}


def _first(field: str, options: Mapping[str, Value], names: str) -> Iterator[Claim]:
    for name in names.split():
        value = first_of(options.get(name))
        if value is not None and value.known and value.data is not None:
            yield Claim(field=field, value=value)
            return

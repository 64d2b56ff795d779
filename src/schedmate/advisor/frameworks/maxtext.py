"""MaxText: a YAML file and `key=value` words behind it, whoever's checkout it runs from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import number_of, parts_of, text_of
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.dataset_names import dataset_name

_ENTRY = re.compile(r"(?:^|[/. ])max_?text(?:[/.]|$).*train", re.IGNORECASE)
_FIELDS = {
    "model": "model_name",
    "dataset": "dataset_name hf_path dataset_path",
    "batch_size": "per_device_batch_size",
    "max_steps": "steps",
    "sequence_length": "max_target_length",
    "learning_rate": "learning_rate",
    "optimizer": "opt_type",
    "precision": "dtype",
    "gradient_accumulation": "gradient_accumulation_steps",
    "n_layer": "base_num_decoder_layers",
    "d_model": "base_emb_dim",
    "n_head": "base_num_query_heads",
    "vocab_size": "vocab_size",
    "checkpoint_dir": "base_output_directory",
    "checkpoint_every": "checkpoint_period",
}
_LEFT_OPEN = frozenset({"", "default", "none", "null", "synthetic"})
_SHAPES = frozenset({"n_layer", "d_model", "n_head", "vocab_size"})


def maxtext(reading: Reading) -> Iterator[Claim]:
    if not _ENTRY.search(reading.run.entry.name):
        return
    settings = _settings(reading)
    named = _is_named(settings.get("model_name"))
    for field, names in _FIELDS.items():
        if named and field in _SHAPES:
            continue
        given = (settings[name] for name in names.split() if name in settings)
        value = next((each for each in given if _says_something(field, each)), None)
        if value is not None and field != "dataset":
            yield Claim(field=field, value=value, confidence=0.95)
        elif value is not None and text_of(settings.get("dataset_type")) != "synthetic":
            name = dataset_name(str(value.data))
            yield Claim(field="dataset", value=Value(name, value.lines, value.source))
    yield Claim(field="task", value=Value("language_modeling", reading.run.command.evidence))


def _settings(reading: Reading) -> Mapping[str, Value]:
    """The file's, then the command line's, which has the last word."""
    settings: dict[str, Value] = {}
    for word in reading.run.arguments:
        name, equals, text = word.text.partition("=")
        if not word.known:
            continue
        if equals and name.isidentifier():
            settings[name] = Value(_plain(text), word.evidence, source_of(word.evidence))
        elif word.text.endswith((".yml", ".yaml")):
            config = reading.read_config(word.text)
            settings = {**parts_of(config), **settings}
    return settings


def _plain(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip("\"'")


def _is_named(model: Value | None) -> bool:
    """A model by name brings its own shape, whatever the base file says."""
    return (text_of(model) or "default").lower() != "default"


def _says_something(field: str, value: Value) -> bool:
    if field in ("batch_size", "gradient_accumulation", "max_steps"):
        return (number_of(value) or 0) >= 1
    return value.plain and value.known and str(value.data).lower() not in _LEFT_OPEN

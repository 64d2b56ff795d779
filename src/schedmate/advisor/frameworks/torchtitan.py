"""torchtitan: a TOML file named on the command line, and options that go over it."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import number_of, part_of, truth_of
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Source

_FIELDS = {
    "batch_size": "training.local_batch_size training.batch_size",
    "sequence_length": "training.seq_len",
    "max_steps": "training.steps",
    "dataset": "training.dataset",
    "optimizer": "optimizer.name",
    "learning_rate": "optimizer.lr",
    "checkpoint_every": "checkpoint.interval",
    "precision": "training.mixed_precision_param",
}
_CONFIG = ("--job.config_file", "--job.config-file", "--config_file")


def torchtitan(reading: Reading) -> Iterator[Claim]:
    config = _config(reading)
    if config is None:
        return
    for field, names in _FIELDS.items():
        value = _value(reading, config, names)
        if value is not None and (field != "checkpoint_every" or _saves(reading, config)):
            yield Claim(field=field, value=value)
    name = _value(reading, config, "model.name")
    flavor = _value(reading, config, "model.flavor")
    if name is not None and name.known:
        size = f"-{flavor.data}" if flavor is not None and flavor.known else ""
        yield Claim(field="model", value=Value(f"{name.data}{size}", name.lines, name.source))
    yield from _parallelism(reading, config)


def _saves(reading: Reading, config: Value) -> bool:
    return (
        truth_of(_value(reading, config, "checkpoint.enable checkpoint.enable_checkpoint")) is True
    )


def _config(reading: Reading) -> Value | None:
    words = [word.text for word in reading.run.arguments]
    for index, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in _CONFIG:
            path = value or (words[index + 1] if index + 1 < len(words) else "")
            found = reading.read_config(path)
            if found is not None and part_of(found, "training") is not None:
                return found
    return None


def _value(reading: Reading, config: Value, names: str) -> Value | None:
    for name in names.split():
        value = _given(reading, name) or part_of(config, *name.split("."))
        if value is not None and value.known and value.data is not None:
            return value
    return None


def _given(reading: Reading, name: str) -> Value | None:
    words = reading.run.arguments
    source: Source = "cli"
    for index, word in enumerate(words):
        option, _, value = word.text.partition("=")
        if option.lstrip("-").replace("-", "_") == name and option.startswith("--"):
            text = value or (words[index + 1].text if index + 1 < len(words) else "")
            return Value(text, word.evidence, source)
    return None


def _parallelism(reading: Reading, config: Value) -> Iterator[Claim]:
    degrees = {
        way: value
        for way, name in (
            ("tp", "parallelism.tensor_parallel_degree training.tensor_parallel_degree"),
            ("pp", "parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree"),
        )
        if (value := _value(reading, config, name)) is not None and (number_of(value) or 0) > 1
    }
    if degrees:
        way = "3d" if len(degrees) > 1 else next(iter(degrees))
        lines = tuple(line for value in degrees.values() for line in value.lines)
        yield Claim(field="parallelism", value=Value(way, lines, "config"))
        return
    shard = _value(reading, config, "parallelism.data_parallel_shard_degree")
    if shard is not None and (number_of(shard) or 0) not in (0.0, 1.0):
        yield Claim(field="parallelism", value=Value("fsdp", shard.lines, shard.source))

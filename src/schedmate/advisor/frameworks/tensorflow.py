"""TensorFlow below Keras: pipelines of data, ways to spread a model, Horovod beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    calls_of,
    claim,
    derived,
    implied_claim,
    is_of,
    kind_of,
    last_name,
    number_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_PIPELINES = ("tensorflow", "tensorflow_datasets", "keras")
_BATCHES = ("batch", "padded_batch", "ragged_batch")
_FROM_FILES = words(
    "image_dataset_from_directory text_dataset_from_directory audio_dataset_from_directory "
    "timeseries_dataset_from_array flow_from_directory flow_from_dataframe flow "
    "make_csv_dataset TimeseriesGenerator"
)
_TRAINS = re.compile(r"(?:^|[^a-z])train|training|Train|_ds_tr|^ds$", re.IGNORECASE)
_TESTS = re.compile(r"(?:^|[^a-z])(?:val|valid|test|eval|dev|predict|infer)", re.IGNORECASE)
_LEARNS_OTHERS = re.compile(r"vocab|word_?piece|adapt|plot|show|visuali|preview", re.IGNORECASE)
_STRATEGIES = {
    "MirroredStrategy": "dp",
    "TPUStrategy": "dp",
    "CentralStorageStrategy": "dp",
    "DataParallel": "dp",
    "MultiWorkerMirroredStrategy": "ddp",
    "CollectiveAllReduceStrategy": "ddp",
    "ParameterServerStrategy": "parameter_server",
    "ParameterServerStrategyV1": "parameter_server",
    "ModelParallel": "tp",
}
"""One process that drives all devices of its machine is `dp`, one a worker `ddp`."""
_PER_REPLICA = re.compile(
    r"(?:batch_size_per_(?:replica|gpu|device|core|worker)"
    r"|(?:per_)?(?:replica|device|worker|local|core)_batch_size)",
    re.IGNORECASE,
)
_ONE_PROCESS = ("pmap", "replicate", "MirroredStrategy")
_DRIVERS = ("jax", "flax", "tensorflow")
_LONGEST_CHAIN = 30
_HOROVOD = ("init", "DistributedOptimizer", "DistributedGradientTape")


def pipelines(reading: Reading) -> Iterator[Claim]:
    """What the training's pipeline is batched by, as long as no name says it is for a test."""
    found = [call for call in reading.trace.calls if _batches(call) and not _aside(call)]
    named = [call for call in found if _TRAINS.search(_words(call))]
    training = named or [call for call in found if ".shuffle." in call.callee]
    others = [call for call in found if not _TESTS.search(_words(call))]
    said_of = [each for call in training or others for each in _batch(call)]
    for each in agreed(said_of):
        yield replace(each, value=share(each.value, reading) or each.value)


def batch_of(pipeline: Value | None) -> Value | None:
    """What a pipeline was batched by, whatever it went through since."""
    for _ in range(_LONGEST_CHAIN):
        if pipeline is None or not isinstance(pipeline.data, LibraryObject):
            return None
        call = pipeline.data.call
        if _batches(call):
            return _size(call)
        pipeline = call.receiver
    return None


def shared_by(reading: Reading) -> Value | None:
    """How many GPUs share each batch, where one process drives all of them."""
    count, total = reading.processes.devices, reading.processes.total
    drives = [call for call in calls_of(reading, *_ONE_PROCESS) if is_of(call.callee, *_DRIVERS)]
    if count is None or not any(call.certain for call in drives):
        return None
    if total is not None and total.number > 1:
        return None
    return Value(count.number, count.lines, "derived")


def share(batch: Value | None, reading: Reading) -> Value | None:
    devices = shared_by(reading)
    whole, shares = number_of(batch), number_of(devices)
    if batch is None or devices is None or not whole or not shares or whole % shares:
        return batch
    return derived(int(whole // shares), batch, devices)


def strategies(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, *_STRATEGIES):
        if is_of(call.callee, "tensorflow", "keras"):
            yield from implied_claim("parallelism", _STRATEGIES[last_name(call.callee)], call)


def horovod(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, *_HOROVOD):
        if is_of(call.callee, "horovod"):
            yield from implied_claim("parallelism", "horovod", call)
            return


def managed_checkpoints(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "CheckpointManager"):
        if is_of(call.callee, "tensorflow"):
            yield from claim("checkpoint_dir", call.argument("directory", 1), call)


def per_replica(reading: Reading) -> Iterator[Claim]:
    """A name that says it is each device's share; the pipeline gets that times the devices."""
    given = {last_name(name): value for name, value in reading.options.items()}
    for binding in reading.trace.bindings:
        value = given.get(binding.name, binding.value)
        if _PER_REPLICA.fullmatch(binding.name) and number_of(value) is not None:
            yield from claim("batch_size", value, binding, confidence=0.97)
            return


def _batches(call: Call) -> bool:
    name = last_name(call.callee)
    if name in _FROM_FILES:
        return is_of(call.callee, *_PIPELINES) or call.callee.startswith("?.")
    return name in _BATCHES and is_of(call.callee, *_PIPELINES)


def _aside(call: Call) -> bool:
    """Batches that a vocabulary or a mean is learnt from, or that are only shown."""
    return bool(_LEARNS_OTHERS.search(f"{call.target} {call.within} {call.line.text}"))


def _batch(call: Call) -> Iterator[Claim]:
    value = _size(call)
    if number_of(value) is not None or text_of(value) is not None:
        yield from claim("batch_size", value, call, confidence=0.9)


def _size(call: Call) -> Value | None:
    return call.argument("batch_size", 0 if last_name(call.callee) in _BATCHES else None)


def _words(call: Call) -> str:
    return f"{call.target} {kind_of(call.receiver)} {_before(call.line.text)}"


def _before(text: str) -> str:
    """`train_ds = train_ds.shuffle(…).batch(…)`: what the line speaks of first."""
    return text.partition("(")[0]


FRAMEWORK = Framework(readers=(pipelines, per_replica, strategies, horovod, managed_checkpoints))

"""TensorFlow below Keras: pipelines of data, ways to spread a model, Horovod beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.idioms.base import Reading, Said
from schedmate.advisor.idioms.calls import (
    agreed,
    calls_of,
    implied,
    is_of,
    kind_of,
    last_name,
    number_of,
    said,
    text_of,
    words,
)
from schedmate.advisor.python.values import Call

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
_HOROVOD = ("init", "DistributedOptimizer", "DistributedGradientTape")


def pipelines(reading: Reading) -> Iterator[Said]:
    """What the training's pipeline is batched by, as long as no name says it is for a test."""
    found = [call for call in reading.trace.calls if _batches(call) and not _aside(call)]
    training = [call for call in found if _TRAINS.search(_words(call))]
    others = [call for call in found if not _TESTS.search(_words(call))]
    said_of = [each for call in training or others for each in _batch(call)]
    yield from agreed(said_of)


def strategies(reading: Reading) -> Iterator[Said]:
    for call in calls_of(reading, *_STRATEGIES):
        if is_of(call.callee, "tensorflow", "keras"):
            yield from implied("parallelism", _STRATEGIES[last_name(call.callee)], call)


def horovod(reading: Reading) -> Iterator[Said]:
    for call in calls_of(reading, *_HOROVOD):
        if is_of(call.callee, "horovod"):
            yield from implied("parallelism", "horovod", call)
            return


def per_replica(reading: Reading) -> Iterator[Said]:
    """A name that says it is each device's share; the pipeline gets that times the devices."""
    for binding in reading.trace.bindings:
        if _PER_REPLICA.fullmatch(binding.name) and number_of(binding.value) is not None:
            yield from said("batch_size", binding.value, binding, confidence=0.97)
            return


def _batches(call: Call) -> bool:
    name = last_name(call.callee)
    if name in _FROM_FILES:
        return is_of(call.callee, *_PIPELINES) or call.callee.startswith("?.")
    return name in _BATCHES and is_of(call.callee, *_PIPELINES)


def _aside(call: Call) -> bool:
    """Batches that a vocabulary or a mean is learnt from, or that are only shown."""
    return bool(_LEARNS_OTHERS.search(f"{call.target} {call.within} {call.line.text}"))


def _batch(call: Call) -> Iterator[Said]:
    place = 0 if last_name(call.callee) in _BATCHES else None
    value = call.argument("batch_size", place)
    if number_of(value) is not None or text_of(value) is not None:
        yield from said("batch_size", value, call, confidence=0.9)


def _words(call: Call) -> str:
    return f"{call.target} {kind_of(call.receiver)} {_before(call.line.text)}"


def _before(text: str) -> str:
    """`train_ds = train_ds.shuffle(…).batch(…)`: what the line speaks of first."""
    return text.partition("(")[0]

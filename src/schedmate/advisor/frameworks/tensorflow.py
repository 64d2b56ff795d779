"""TensorFlow below Keras: pipelines of data, ways to spread a model, Horovod beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    calls_of,
    claim,
    derived,
    is_of,
    kind_of,
    last_name,
    number_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, table_of
from schedmate.advisor.frameworks.doors import called
from schedmate.advisor.frameworks.rules import by_name, either
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Value
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
_PER_REPLICA = re.compile(
    r"(?:batch_size_per_(?:replica|gpu|device|core|worker)"
    r"|(?:per_)?(?:replica|device|worker|local|core)_batch_size)",
    re.IGNORECASE,
)
_LONGEST_CHAIN = 30
_ONE_PROCESS = ("pmap", "replicate", "MirroredStrategy")
_CALLS = called(("tensorflow", "keras", "horovod"), {"CheckpointManager": "checkpoint directory"})


def _calls(reading: Reading) -> Iterator[Settings]:
    """With each device's share of a batch, and the batches of the training's pipeline."""
    given = {last_name(name): value for name, value in reading.options.items()}
    for binding in reading.trace.bindings:
        value = given.get(binding.name, binding.value)
        if _PER_REPLICA.fullmatch(binding.name) and number_of(value) is not None:
            yield Settings(table_of({"per_replica": value}), reading, at=binding)
            break
    yield from _pipeline(reading)
    yield from _CALLS(reading)


def _pipeline(reading: Reading) -> Iterator[Settings]:
    """What the training's is batched by, as long as no name says that it is for a test."""
    found = [call for call in reading.trace.calls if _batches(call)]
    named = [call for call in found if _TRAINS.search(_words(call))]
    training = named or [call for call in found if ".shuffle." in call.callee]
    others = [call for call in found if not _TESTS.search(_words(call))]
    sizes = [(_size(call), call) for call in training or others]
    known = [
        each
        for value, call in sizes
        if number_of(value) is not None or text_of(value) is not None
        for each in claim("batch_size", value, call)
    ]
    for each in agreed(known):
        at = next(call for value, call in sizes if value is each.value)
        size = share(each.value, reading) or each.value
        yield Settings(table_of({"pipeline": size}), reading, at=at, confidence=0.9)


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


def share(batch: Value | None, reading: Reading) -> Value | None:
    """Each GPU's, where one process drives all of them."""
    devices, total = reading.processes.devices, reading.processes.total
    drives = calls_of(reading, *_ONE_PROCESS)
    alone = total is None or total.number <= 1
    whole = number_of(batch)
    if batch is None or devices is None or not whole or not alone or whole % devices.number:
        return batch
    if not any(call.certain and is_of(call.callee, "jax", "flax", "tensorflow") for call in drives):
        return batch
    return derived(int(whole // devices.number), batch, Value(devices.number, devices.lines))


def _batches(call: Call) -> bool:
    name = last_name(call.callee)
    if name in _FROM_FILES:
        return is_of(call.callee, *_PIPELINES) or call.callee.startswith("?.")
    return name in _BATCHES and is_of(call.callee, *_PIPELINES)


def _size(call: Call) -> Value | None:
    return call.argument("batch_size", 0 if last_name(call.callee) in _BATCHES else None)


def _words(call: Call) -> str:
    """`train_ds = train_ds.shuffle(…).batch(…)`: with what the line names first."""
    return f"{call.target} {kind_of(call.receiver)} {call.line.text.partition('(')[0]}"


FRAMEWORK = Framework(
    settings={
        "batch_size": "per_replica pipeline",
        "parallelism": either(
            by_name("init|Distributed(?:Optimizer|GradientTape)", "horovod", "horovod"),
            by_name("(?:Mirrored|TPU|CentralStorage)Strategy|DataParallel", "dp"),
            by_name("(?:MultiWorkerMirrored|CollectiveAllReduce)Strategy", "ddp"),
            by_name("ParameterServerStrategy(?:V1)?", "parameter_server"),
            by_name("ModelParallel", "tp"),
        ),
        "checkpoint_dir": "CheckpointManager.directory",
    },
    calls=_calls,
    confidence={"batch_size": 0.97},
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "import tensorflow as tf\n"
                "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n"
                "BATCH_SIZE_PER_REPLICA = 64\n"
                "size = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync\n"
                "train_ds = tf.data.Dataset.range(9).batch(size)\n"
                "manager = tf.train.CheckpointManager(checkpoint, 'out')\n",
            },
            claims={"batch_size": 64, "parallelism": "ddp", "checkpoint_dir": "out"},
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
                "hvd.init()\n"
                "train_ds = tf.data.Dataset.from_tensor_slices(x).shuffle(100).batch(64)\n"
                "val_ds = tf.data.Dataset.from_tensor_slices(x).batch(256)\n",
            },
            claims={"batch_size": 64, "parallelism": "horovod"},
        ),
    ),
)

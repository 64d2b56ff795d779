"""detectron2: a config that scripts fill by assignment, or files and the command line do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    Place,
    calls_of,
    claim,
    derived,
    first_of,
    is_of,
    number_of,
    part_of,
    parts_of,
    text_of,
    truth_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_FIELDS = {
    "max_steps": "SOLVER.MAX_ITER",
    "learning_rate": "SOLVER.BASE_LR",
    "checkpoint_every": "SOLVER.CHECKPOINT_PERIOD",
    "checkpoint_dir": "OUTPUT_DIR",
    "optimizer": "SOLVER.OPTIMIZER",
    "dataset": "DATASETS.TRAIN",
}
_ASSIGNED = {path.rpartition(".")[2]: field for field, path in _FIELDS.items()}
_TRAINERS = ("DefaultTrainer", "DefaultTrainer.resume_or_load", "default_setup")


def detectron2(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, *_TRAINERS):
        if not is_of(call.callee, "detectron2"):
            continue
        config = call.argument("cfg", 0)
        if parts_of(config):
            yield from _filled(reading, config, call)
        else:
            yield from _assigned(reading)
        break
    yield from _zoo(reading)


def _filled(reading: Reading, config: Value | None, at: Place) -> Iterator[Claim]:
    for field, path in _FIELDS.items():
        yield from claim(field, first_of(part_of(config, *path.split("."))), at)
    enabled = part_of(config, "SOLVER", "AMP", "ENABLED")
    if enabled is not None and truth_of(enabled) is True:
        yield from claim("precision", Value("fp16", enabled.lines, enabled.source), at)
    yield from _share(reading, part_of(config, "SOLVER", "IMS_PER_BATCH"), at)


def _assigned(reading: Reading) -> Iterator[Claim]:
    """`cfg.SOLVER.MAX_ITER = 300` on a config that only the library knows; the last one counts."""
    last = {
        binding.name: binding
        for binding in reading.trace.bindings
        if binding.where == "attribute" and binding.name.isupper()
    }
    for name, field in _ASSIGNED.items():
        if name in last:
            yield from claim(field, first_of(last[name].value), last[name])
    if "IMS_PER_BATCH" in last:
        yield from _share(reading, last["IMS_PER_BATCH"].value, last["IMS_PER_BATCH"])


def _share(reading: Reading, whole: Value | None, at: Place) -> Iterator[Claim]:
    """Its batch is of all devices together; a script that starts no others is alone."""
    workers = reading.options.get("num_gpus")
    size, count = number_of(whole), number_of(workers)
    if whole is None or size is None:
        return
    if workers is not None and count and size % count == 0:
        yield from claim("batch_size", derived(int(size // count), whole, workers), at)
    elif workers is None and not any(calls_of(reading, "launch")) and not reading.run.launchers:
        yield from claim("batch_size", whole, at, confidence=0.85)


def _zoo(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "get_config_file", "model_zoo.get_config", "model_zoo.get"):
        path = call.argument("config_path", 0)
        text = text_of(path)
        if is_of(call.callee, "detectron2") and path is not None and text:
            yield from claim(
                "model", Value(PurePosixPath(text).stem, path.lines, path.source), call
            )
            return


FRAMEWORK = Framework(readers=(detectron2,))

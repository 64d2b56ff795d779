"""detectron2: a config that scripts fill by assignment, or files and the command line do."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    derived,
    first_of,
    is_of,
    number_of,
    parts_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import (
    Framework,
    Rule,
    Sample,
    Settings,
    stated,
    table_of,
)
from schedmate.advisor.frameworks.rules import stem, switched
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.options.configs import assign, merge

_TRAINERS = ("DefaultTrainer", "DefaultTrainer.resume_or_load", "default_setup")
_ZOO = ("get_config_file", "model_zoo.get_config", "model_zoo.get")
_SECTIONS = {"TRAIN": "DATASETS", "OUTPUT_DIR": ""}


def _called(reading: Reading) -> Iterator[Settings]:
    """The config that a trainer gets, over what is assigned where only the library knows it."""
    for call in calls_of(reading, *_TRAINERS):
        if is_of(call.callee, "detectron2"):
            config = call.argument("cfg", 0)
            known = table_of(parts_of(config))
            yield Settings(merge(_assigned(reading), known), reading, at=call)
            return


def _assigned(reading: Reading) -> Value:
    """`cfg.SOLVER.MAX_ITER = 300`; the last one counts."""
    tree = table_of({})
    for binding in reading.trace.bindings:
        if binding.where == "attribute" and binding.name.isupper():
            section = _SECTIONS.get(binding.name, "SOLVER")
            tree = assign(tree, f"{section}.{binding.name}".lstrip("."), binding.value)
    return tree


def _of_list(name: str) -> Rule:
    def rule(settings: Settings) -> Value | None:
        return stated(first_of(settings.get(name)))

    return rule


def _batch(settings: Settings) -> Value | None:
    """Its batch is of all devices together; a script that starts no others is alone."""
    whole, workers = (
        settings.first("SOLVER.IMS_PER_BATCH"),
        settings.reading.options.get("num_gpus"),
    )
    size, count = number_of(whole), number_of(workers)
    if whole is None or size is None:
        return None
    if workers is not None and count and size % count == 0:
        return derived(int(size // count), whole, workers)
    reading = settings.reading
    alone = not any(calls_of(reading, "launch")) and not reading.run.launchers
    return whole if workers is None and alone else None


def _model(settings: Settings) -> Value | None:
    """`model_zoo.get_config_file("COCO-Detection/faster_rcnn_R_50_FPN_3x.yaml")`."""
    for call in calls_of(settings.reading, *_ZOO):
        path = call.argument("config_path", 0)
        if is_of(call.callee, "detectron2") and path is not None and text_of(path):
            return stem(path)
    return None


FRAMEWORK = Framework(
    settings={
        "model": _model,
        "dataset": _of_list("DATASETS.TRAIN"),
        "batch_size": _batch,
        "max_steps": "SOLVER.MAX_ITER",
        "optimizer": "SOLVER.OPTIMIZER",
        "learning_rate": "SOLVER.BASE_LR",
        "checkpoint_every": "SOLVER.CHECKPOINT_PERIOD",
        "checkpoint_dir": "OUTPUT_DIR",
        "precision": switched({"SOLVER.AMP.ENABLED": "fp16"}),
    },
    confidence={"batch_size": 0.85},
    calls=_called,
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "from detectron2 import model_zoo\n"
                "from detectron2.config import get_cfg\n"
                "from detectron2.engine import DefaultTrainer\n"
                "cfg = get_cfg()\n"
                "cfg.merge_from_file(model_zoo.get_config_file('COCO/faster_rcnn_R_50.yaml'))\n"
                "cfg.DATASETS.TRAIN = ('balloon_train',)\ncfg.SOLVER.IMS_PER_BATCH = 2\n"
                "cfg.SOLVER.MAX_ITER = 300\ncfg.SOLVER.BASE_LR = 0.00025\n"
                "cfg.OUTPUT_DIR = 'out'\nDefaultTrainer(cfg).train()\n",
            },
            claims={
                "model": "faster_rcnn_R_50",
                "dataset": "balloon_train",
                "batch_size": 2,
                "max_steps": 300,
                "learning_rate": 0.00025,
                "checkpoint_dir": "out",
            },
        ),
    ),
)

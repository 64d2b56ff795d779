"""Lightning: what the Trainer, its callbacks, Fabric and the LightningCLI get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    is_of,
    items_of,
    kind_of,
    last_name,
    number_of,
    parts_of,
    text_of,
)
from schedmate.advisor.frameworks.command_line import (
    config_at,
    nothing_known,
    read_command_line,
)
from schedmate.advisor.frameworks.contract import (
    Framework,
    Rule,
    Sample,
    Settings,
    stated,
    table_of,
)
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.resuming import trainer_resumes
from schedmate.advisor.frameworks.rules import (
    at_least,
    by_program,
    converted,
    either,
    last_part,
    of_program,
    resumption,
)
from schedmate.advisor.interpret.python.values import UNKNOWN, LibraryObject, Value
from schedmate.advisor.options.configs import merge, select
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_LIBRARIES = ("lightning", "pytorch_lightning", "lightning_fabric")
_STRATEGIES = {
    "DDPStrategy": "ddp",
    "FSDPStrategy": "fsdp",
    "XLAFSDPStrategy": "fsdp",
    "ModelParallelStrategy": "tp",
    "HorovodStrategy": "horovod",
    "DataParallelStrategy": "dp",
    "MegatronStrategy": "3d",
    "NLPDDPStrategy": "ddp",
}
_PRECISIONS = words(
    "MixedPrecision MixedPrecisionPlugin HalfPrecision DeepSpeedPrecision FSDPPrecision"
)
_SHARING = ("trainer.strategy", "strategy", "trainer.accelerator", "accelerator")
_NO_SHARING = words("auto gpu cuda cpu tpu mps single_device")

_HIDES = 0.5
"""Of a value that only the run knows, so that no lesser claim takes its place."""
_TASKS = {"test": "evaluation", "validate": "evaluation", "predict": "inference"}


def _called(reading: Reading) -> Iterator[Settings]:
    for call in calls_of(reading, "Trainer", "Fabric"):
        if call.keywords and is_of(call.callee, *_LIBRARIES, "nemo"):
            yield Settings(table_of(call.keywords), reading, at=call)
    for call in calls_of(reading, "from_argparse_args"):
        yield Settings(table_of(parts_of(call.argument("args", 0))), reading, at=call)


def _parallelism(settings: Settings) -> Value | None:
    """By the name of a strategy, or by the object that it is."""
    strategy = next((each for name in _SHARING if (each := settings.get(name)) is not None), None)
    name = text_of(strategy) or last_name(kind_of(strategy))
    if strategy is None or name in _NO_SHARING:
        return None
    lines = strategy.lines or (() if settings.at is None else (settings.at.line,))
    if name == "DeepSpeedStrategy":
        stage = number_of(parts_of(strategy).get("stage"))
        return Value(f"zero{int(stage or 2)}", lines)
    return Value(_STRATEGIES[name], lines) if name in _STRATEGIES else stated(strategy)


def _plugin(settings: Settings) -> Value | None:
    """`plugins=[MixedPrecision("16-mixed", …)]`."""
    for plugin in items_of(settings.get("plugins")):
        if last_name(kind_of(plugin)) in _PRECISIONS and isinstance(plugin.data, LibraryObject):
            return stated(plugin.data.call.argument("precision", 0))
    return None


def _stops(settings: Settings) -> Value | None:
    for callback in items_of(settings.get("callbacks")):
        if "EarlyStopping" in kind_of(callback) and isinstance(callback.data, LibraryObject):
            return Value(True, (callback.data.call.line,))
    return None


def _root_dir(settings: Settings) -> Value | None:
    """Where checkpoints go, unless a callback of the job's code puts them elsewhere."""
    callbacks = calls_of(settings.reading, "ModelCheckpoint")
    if any(call.argument("dirpath", 0) is not None for call in callbacks):
        return None
    return settings.first("trainer.default_root_dir default_root_dir")


def lightning_checkpoints(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "ModelCheckpoint"):
        if not is_of(call.callee, *_LIBRARIES):
            continue
        place = call.argument("dirpath", 0)
        yield from claim("checkpoint_dir", place, call)
        if place is not None and not place.plain:
            yield Claim(field="checkpoint_dir", value=UNKNOWN, line=call.line, confidence=_HIDES)
        steps = ("every_n_train_steps", "every_n_epochs")
        given = [call.keywords[name] for name in steps if (number_of(call.keywords.get(name)) or 0)]
        for value in given[:1]:
            yield from claim("checkpoint_every", value, call)


def _started(reading: Reading) -> Iterator[Settings]:
    """`main.py fit --config a.yaml --config b.yaml --trainer.max_epochs 7` of a LightningCLI."""
    if reading.context is None:
        return
    given = read_command_line(reading.run.arguments)
    tree = nothing_known(complete=True)
    for path in _config_paths(reading):
        tree = merge(tree, config_at(path, reading.context))
    command = given.word(0)
    section = select(tree, command.text) if command is not None else None
    tree = merge(tree, section or nothing_known(complete=True))
    yield settings_of(reading, given, tree)


def _config_paths(reading: Reading) -> Iterator[str]:
    """`--config` may be given several times; later ones go over earlier ones."""
    texts = [word.text for word in reading.run.arguments]
    for place, text in enumerate(texts):
        name, equal, value = text.partition("=")
        if name in ("--config", "-c"):
            yield value if equal else next(iter(texts[place + 1 : place + 2]), "")


def _max_time(settings: Settings) -> Value | None:
    """A text, a dict of units or a timedelta."""
    found = (settings.get(name) for name in ("trainer.max_time", "max_time"))
    return next((value for value in found if value is not None and value.data is not None), None)


def _task(settings: Settings) -> Value | None:
    command = settings.words[0].text if settings.words else ""
    return by_program(settings, _TASKS[command]) if command in _TASKS else None


def _of_callback(kind: str, names: str, data: object = None) -> Rule:
    """A setting of the callback of this kind, or that there is one."""

    def rule(settings: Settings) -> Value | None:
        for item in items_of(settings.get("trainer.callbacks")):
            name = select(item, "class_path")
            if name is None or not str(name.data).endswith(f".{kind}"):
                continue
            if data is not None:
                return Value(data, name.lines, name.source)
            return replace(settings, tree=item).first(names)
        return None

    return rule


FRAMEWORK = Framework(
    settings={
        "framework": of_program("lightning"),
        "task": _task,
        "model": converted(last_part, "model.class_path"),
        "dataset": either(
            "data.init_args.dataset_name data.init_args.dataset data.init_args.dataset_path",
            converted(last_part, "data.class_path"),
        ),
        "epochs": at_least(0, "trainer.max_epochs max_epochs"),
        "max_steps": at_least(0, "trainer.max_steps max_steps"),
        "max_time_s": _max_time,
        "gradient_accumulation": "trainer.accumulate_grad_batches accumulate_grad_batches",
        "precision": either("trainer.precision precision", _plugin),
        "parallelism": _parallelism,
        "batch_size": "data.init_args.batch_size data.batch_size",
        "optimizer": converted(last_part, "optimizer.class_path optimizer"),
        "learning_rate": "optimizer.init_args.lr optimizer.lr model.init_args.lr model.lr "
        "model.init_args.learning_rate model.learning_rate",
        "checkpoint_dir": either(
            _of_callback("ModelCheckpoint", "init_args.dirpath dirpath"),
            _root_dir,
        ),
        "checkpoint_every": _of_callback(
            "ModelCheckpoint", "init_args.every_n_train_steps init_args.every_n_epochs"
        ),
        "early_stopping": either(_of_callback("EarlyStopping", "", data=True), _stops),
        "resumes": resumption("ckpt_path"),
    },
    confidence={"checkpoint_dir": 0.7},
    program=_started,
    calls=_called,
    readers=(lightning_checkpoints, trainer_resumes),
    samples=(
        Sample(
            command="python main.py fit --config a.yaml --config=b.yaml --trainer.max_epochs 7 "
            "--optimizer Adam",
            files={
                "main.py": "cli = LightningCLI(Net)\n",
                "a.yaml": "fit:\n  trainer: {max_epochs: 5, precision: 16-mixed, callbacks: "
                "[{class_path: lightning.pytorch.callbacks.EarlyStopping}]}\n"
                "  model: {class_path: my.models.Net}\n",
                "b.yaml": "data: {init_args: {batch_size: 32}, class_path: my.CIFAR}\n",
            },
            claims={
                "framework": "lightning",
                "epochs": 7,
                "precision": "16-mixed",
                "model": "Net",
                "dataset": "CIFAR",
                "batch_size": 32,
                "optimizer": "Adam",
                "early_stopping": True,
            },
        ),
    ),
)

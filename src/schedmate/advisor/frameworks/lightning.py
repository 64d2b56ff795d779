"""Lightning: what the Trainer, its callbacks, Fabric and the LightningCLI get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    implied_claim,
    is_of,
    items_of,
    kind_of,
    last_name,
    named_claims,
    number_of,
    parts_of,
    runs,
    text_of,
)
from schedmate.advisor.frameworks.command_line import (
    config_at,
    nothing_known,
    read_command_line,
)
from schedmate.advisor.frameworks.contract import Framework, Rule, Sample, Settings
from schedmate.advisor.frameworks.doors import settings_of
from schedmate.advisor.frameworks.resuming import trainer_resumes
from schedmate.advisor.frameworks.rules import (
    by_program,
    converted,
    either,
    last_part,
    of_program,
)
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Value
from schedmate.advisor.options.configs import merge, select
from schedmate.advisor.settle.claim import Claim

_LIBRARIES = ("lightning", "pytorch_lightning", "lightning_fabric")
_TRAINER = {
    "epochs": "max_epochs",
    "max_steps": "max_steps",
    "max_time_s": "max_time",
    "gradient_accumulation": "accumulate_grad_batches",
    "checkpoint_dir": "default_root_dir",
}
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
_PRECISIONS = {
    "MixedPrecision": "precision",
    "MixedPrecisionPlugin": "precision",
    "HalfPrecision": "precision",
    "DeepSpeedPrecision": "precision",
    "FSDPPrecision": "precision",
}

_TASKS = {"test": "evaluation", "validate": "evaluation", "predict": "inference"}


def lightning(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "Trainer"):
        if is_of(call.callee, *_LIBRARIES, "nemo"):
            yield from _trainer(call, call.keywords)
            yield from _callbacks(call)
    for call in calls_of(reading, "Fabric"):
        if is_of(call.callee, *_LIBRARIES):
            yield from _spread(call, call.keywords)
    for call in calls_of(reading, "from_argparse_args"):
        yield from _trainer(call, parts_of(call.argument("args", 0)))


def _trainer(call: Call, given: Mapping[str, Value]) -> Iterator[Claim]:
    lengths = {name: value for name, value in given.items() if not _no_limit(value)}
    for each in named_claims(_TRAINER, lengths, call):
        yield replace(each, confidence=0.7) if each.field == "checkpoint_dir" else each
    yield from _spread(call, given)


def _no_limit(value: Value) -> bool:
    return number_of(value) == -1


def _spread(call: Call, given: Mapping[str, Value]) -> Iterator[Claim]:
    yield from _precision(call, given)
    strategy = given.get("strategy") or given.get("accelerator")
    name = text_of(strategy) or last_name(kind_of(strategy))
    if name in _STRATEGIES:
        yield from implied_claim("parallelism", _STRATEGIES[name], call)
    elif name == "DeepSpeedStrategy":
        stage = number_of(parts_of(strategy).get("stage"))
        yield from implied_claim("parallelism", f"zero{int(stage or 2)}", call)
    elif name not in ("auto", "gpu", "cuda", "cpu", "tpu", "mps", "single_device"):
        yield from claim("parallelism", strategy, call)


def _precision(call: Call, given: Mapping[str, Value]) -> Iterator[Claim]:
    yield from claim("precision", given.get("precision"), call)
    for plugin in items_of(given.get("plugins")):
        argument = _PRECISIONS.get(last_name(kind_of(plugin)))
        if argument is not None and isinstance(plugin.data, LibraryObject):
            yield from claim("precision", plugin.data.call.argument(argument, 0), call)


def _callbacks(call: Call) -> Iterator[Claim]:
    for callback in items_of(call.keywords.get("callbacks")):
        if "EarlyStopping" in kind_of(callback):
            made = callback.data.call if isinstance(callback.data, LibraryObject) else call
            yield from implied_claim("early_stopping", True, made)


def lightning_checkpoints(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "ModelCheckpoint"):
        if not is_of(call.callee, *_LIBRARIES):
            continue
        yield from claim("checkpoint_dir", call.argument("dirpath", 0), call)
        steps = ("every_n_train_steps", "every_n_epochs")
        given = [call.keywords[name] for name in steps if (number_of(call.keywords.get(name)) or 0)]
        for value in given[:1]:
            yield from claim("checkpoint_every", value, call)


def lightning_optimizers(reading: Reading) -> Iterator[Claim]:
    """The trainer calls `configure_optimizers`, even if the job's own code never does."""
    made = [
        call
        for call in reading.trace.calls
        if last_name(call.within) == "configure_optimizers"
        and _is_optimizer(call)
        and runs(reading, call)
    ]
    if len(made) == 1 and not made[0].certain:
        call = made[0]
        yield from implied_claim("optimizer", last_name(call.callee), call, certain=True)
        yield from claim("learning_rate", call.argument("lr", 1), call, certain=True)


def _is_optimizer(call: Call) -> bool:
    name = last_name(call.callee)
    return "optim" in call.callee and name[:1].isupper() and "lr_scheduler" not in call.callee


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
        "dataset": converted(last_part, "data.class_path"),
        "epochs": "trainer.max_epochs",
        "max_steps": "trainer.max_steps",
        "max_time_s": "trainer.max_time",
        "gradient_accumulation": "trainer.accumulate_grad_batches",
        "precision": "trainer.precision",
        "parallelism": "trainer.strategy",
        "batch_size": "data.init_args.batch_size data.batch_size",
        "optimizer": converted(last_part, "optimizer.class_path optimizer"),
        "learning_rate": "optimizer.init_args.lr optimizer.lr model.init_args.lr model.lr "
        "model.init_args.learning_rate model.learning_rate",
        "checkpoint_dir": either(
            _of_callback("ModelCheckpoint", "init_args.dirpath dirpath"), "trainer.default_root_dir"
        ),
        "checkpoint_every": _of_callback(
            "ModelCheckpoint", "init_args.every_n_train_steps init_args.every_n_epochs"
        ),
        "early_stopping": _of_callback("EarlyStopping", "", data=True),
        "resumes": "ckpt_path",
    },
    program=_started,
    readers=(lightning, lightning_checkpoints, lightning_optimizers, trainer_resumes),
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

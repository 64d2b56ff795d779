"""Lightning: what the Trainer, its callbacks and Fabric are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    implied,
    is_of,
    items_of,
    kind_of,
    last_name,
    number_of,
    parts_of,
    runs,
    said,
    text_of,
    told,
)
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Value
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
    for each in told(_TRAINER, lengths, call):
        yield replace(each, confidence=0.7) if each.field == "checkpoint_dir" else each
    yield from _spread(call, given)


def _no_limit(value: Value) -> bool:
    return number_of(value) == -1


def _spread(call: Call, given: Mapping[str, Value]) -> Iterator[Claim]:
    yield from _precision(call, given)
    strategy = given.get("strategy") or given.get("accelerator")
    name = text_of(strategy) or last_name(kind_of(strategy))
    if name in _STRATEGIES:
        yield from implied("parallelism", _STRATEGIES[name], call)
    elif name == "DeepSpeedStrategy":
        stage = number_of(parts_of(strategy).get("stage"))
        yield from implied("parallelism", f"zero{int(stage or 2)}", call)
    elif name not in ("auto", "gpu", "cuda", "cpu", "tpu", "mps", "single_device"):
        yield from said("parallelism", strategy, call)


def _precision(call: Call, given: Mapping[str, Value]) -> Iterator[Claim]:
    yield from said("precision", given.get("precision"), call)
    for plugin in items_of(given.get("plugins")):
        argument = _PRECISIONS.get(last_name(kind_of(plugin)))
        if argument is not None and isinstance(plugin.data, LibraryObject):
            yield from said("precision", plugin.data.call.argument(argument, 0), call)


def _callbacks(call: Call) -> Iterator[Claim]:
    for callback in items_of(call.keywords.get("callbacks")):
        if "EarlyStopping" in kind_of(callback):
            made = callback.data.call if isinstance(callback.data, LibraryObject) else call
            yield from implied("early_stopping", True, made)


def lightning_checkpoints(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "ModelCheckpoint"):
        if not is_of(call.callee, *_LIBRARIES):
            continue
        yield from said("checkpoint_dir", call.argument("dirpath", 0), call)
        steps = ("every_n_train_steps", "every_n_epochs")
        given = [call.keywords[name] for name in steps if (number_of(call.keywords.get(name)) or 0)]
        for value in given[:1]:
            yield from said("checkpoint_every", value, call)


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
        yield from implied("optimizer", last_name(call.callee), call, certain=True)
        yield from said("learning_rate", call.argument("lr", 1), call, certain=True)


def _is_optimizer(call: Call) -> bool:
    name = last_name(call.callee)
    return "optim" in call.callee and name[:1].isupper() and "lr_scheduler" not in call.callee

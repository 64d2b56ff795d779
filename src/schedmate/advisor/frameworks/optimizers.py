"""Optimisers of PyTorch and of libraries for it, by their constructors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    agreed,
    calls_of,
    chosen_claim,
    claim,
    is_direct,
    is_of,
    is_trained_by_transformers,
    items_of,
    kind_of,
    last_name,
    own_class,
    part_of,
    runs,
    text_of,
)
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import Call, Sequence
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_CLASSES = words(
    "SGD Adam AdamW Adagrad Adadelta Adamax NAdam RAdam RMSprop RMSpropTF ASGD LBFGS Rprop "
    "SparseAdam Adafactor Muon FusedAdam FusedAdamW FusedLAMB FusedLamb FusedSGD "
    "FusedNovoGrad FusedAdagrad LARS LAMB Lamb Lars Lion Lion8bit AdamW8bit PagedAdamW8bit "
    "PagedAdamW32bit PagedAdamW PagedAdam PagedLion8bit Adam8bit SGD8bit AdamW4bit AdamWFp8 "
    "DeepSpeedCPUAdam CPUAdam OneBitAdam HybridAdam AdaBelief Ranger Ranger21 RangerLars "
    "Novograd NovoGrad DiffGrad Yogi AdamP SGDP SGDW Sophia SophiaG Prodigy DAdaptAdam "
    "DAdaptAdamW DAdaptSGD AdamWScheduleFree SGDScheduleFree RAdamScheduleFree GaLoreAdamW "
    "GaLoreAdamW8bit SOAP Shampoo DistributedShampoo CAME AdEMAMix Adan MADGRAD AdaBound "
    "Apollo StableAdamW ClipAdam AdamMini Adam_mini"
)
_ELSEWHERE = ("keras", "tensorflow", "tf", "optax", "flax", "jax", "paddle", "mxnet", "mindspore")
_NO_OPTIMISERS = frozenset({"Optimizer", "SWALR", "AveragedModel"})
_MAIN_NAMES = frozenset({"optimizer", "optim", "opt", "optimiser", "optimizers"})
_TENSOR = re.compile(r"torch\.(?:tensor|zeros|ones|full|randn?|as_tensor|nn\.Parameter)(?:\.|$)")
_GENERATOR = ("gen", "_g", "g_", "optimizerg")


def optimizers(reading: Reading) -> Iterator[Claim]:
    """The one that is made; of several the one that bears the plain name."""
    made = [call for call in reading.trace.calls if _makes_optimizer(call)]
    if is_trained_by_transformers(reading):
        made = [call for call in made if _for_the_trainer(reading, call)]
    made = _ours([_as_run(reading, call) for call in made])
    yield from agreed(each for call in made for each in _names(call, reading))
    yield from agreed(each for call in made for each in _rates(call, reading))


def _makes_optimizer(call: Call) -> bool:
    name = last_name(call.callee)
    if not name[:1].isupper() or is_of(call.callee, *_ELSEWHERE):
        return False
    if name == "Optimizer":
        return bool(own_class(call))
    if name in _CLASSES or name == "ZeroRedundancyOptimizer":
        return True
    return (
        is_of(call.callee, "torch.optim", "torch_optimizer", "bitsandbytes.optim", "timm.optim")
        and name not in _NO_OPTIMISERS
        and "lr_scheduler" not in call.callee
        and is_direct(call.callee)
    )


def _as_run(reading: Reading, call: Call) -> Call:
    """A trainer calls `configure_optimizers`, even if the job's own code never does."""
    return replace(call, reached=Reached.EXECUTED) if runs(reading, call) else call


def _for_the_trainer(reading: Reading, call: Call) -> bool:
    """It makes its own, unless it gets one, or a way to make it."""
    handed = any("optimizers" in trainer.keywords for trainer in calls_of(reading, "Trainer"))
    return handed or "optimizer" in last_name(call.within)


def _ours(made: list[Call]) -> list[Call]:
    """Those that are made for certain, of them those of a network before those of single tensors,
    a library's before the job's own classes, of them the plainly named one before others."""
    sure = [call for call in made if call.certain] or made
    sure = [call for call in sure if not _of_single_tensors(call)] or sure
    ours = [call for call in sure if not own_class(call)] or sure
    plain = [call for call in ours if call.target.lower() in _MAIN_NAMES]
    generators = [
        call
        for call in ours
        if any(g in call.target.lower() for g in _GENERATOR)
        or "generator" in call.within.partition(".")[0].lower()
    ]
    both = [call for call in plain if call in generators]
    return both or plain or generators or ours


def _of_single_tensors(call: Call) -> bool:
    """`Adam([self.log_alpha])`: a factor that is learnt beside the networks."""
    params = call.argument("params", 0)
    listed = params is not None and isinstance(params.data, Sequence)
    kinds = [kind_of(each) for each in items_of(params)] if listed else []
    return bool(kinds) and all(_TENSOR.match(kind) for kind in kinds)


def _names(call: Call, reading: Reading) -> Iterator[Claim]:
    inner = call.argument("optimizer_class")
    if inner is not None:
        name = text_of(inner)
        if name is not None:
            yield from chosen_claim("optimizer", name, call, reading)
        return
    own = own_class(call)
    if not own:
        yield from chosen_claim("optimizer", last_name(call.callee), call, reading)
        return
    made = (each for each in reading.trace.instances if each.value.data is _instance(call))
    at = next((each.line for each in made), call.line)
    yield from chosen_claim("optimizer", own, replace(call, line=at), reading)


def _instance(call: Call) -> object:
    return None if call.receiver is None else call.receiver.data


def _rates(call: Call, reading: Reading) -> Iterator[Claim]:
    """The rate that an optimiser of the job's own gets is meant, whatever it starts from."""
    made = [each for each in reading.trace.instances if each.value.data is _instance(call)]
    rate = made[0].arguments.get("lr") if made and own_class(call) else None
    if rate is not None and rate.known:
        yield from claim("learning_rate", rate, made[0])
        return
    if last_name(call.callee) == "Optimizer":
        yield from claim("learning_rate", part_of(call.argument("defaults", 1), "lr"), call)
        return
    rate = call.argument("lr", None if "ZeroRed" in call.callee else 1)
    if rate is not None:
        yield from claim("learning_rate", rate, call)
        return
    groups = [part_of(group, "lr") for group in items_of(call.argument("params", 0))]
    yield from agreed(each for rate in groups for each in claim("learning_rate", rate, call))

"""JAX with optax, flax and orbax: optimisers, schedules, meshes, checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    Place,
    agreed,
    calls_of,
    claim,
    implied_claim,
    is_of,
    items_of,
    last_name,
    number_of,
    part_of,
    text_of,
)
from schedmate.advisor.frameworks.contract import Framework
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import Call, LibraryObject, Table, Value
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.words import words

_OPTIMIZERS = words(
    "adamw adam sgd lamb lars lion adafactor rmsprop adagrad nadam nadamw novograd radam yogi "
    "sm3 adabelief adamax adamaxw noisy_sgd amsgrad adadelta fromage muon prodigy adan sophia "
    "distributed_shampoo Momentum Adam GradientDescent"
)
_CALLED = {"momentum": "sgd", "gradientdescent": "sgd", "distributed_shampoo": "shampoo"}
_PEAKS: dict[str, tuple[str, int]] = {
    "warmup_cosine_decay_schedule": ("peak_value", 1),
    "warmup_exponential_decay_schedule": ("peak_value", 1),
    "warmup_constant_schedule": ("peak_value", 1),
    "cosine_onecycle_schedule": ("peak_value", 1),
    "linear_onecycle_schedule": ("peak_value", 1),
    "cosine_decay_schedule": ("init_value", 0),
    "exponential_decay": ("init_value", 0),
    "polynomial_schedule": ("init_value", 0),
    "piecewise_constant_schedule": ("init_value", 0),
    "constant_schedule": ("value", 0),
    "linear_schedule": ("init_value", 0),
}
"""What a schedule's rate is at its highest; a linear one that starts at nothing warms up."""
_ASIDE = re.compile(r"disc|critic|actor_target|teacher|alpha|temperature", re.IGNORECASE)
_HALVES = ("bfloat16", "float16")
_DATA_AXES = words("data batch dp replica devices i device")
_SAVES = ("checkpoints.save_checkpoint", "checkpoints.save_checkpoint_multiprocess")
_RESTORES = ("checkpoints.restore_checkpoint", "restore_or_initialize")


def optax_optimizers(reading: Reading) -> Iterator[Claim]:
    made = [call for call in reading.trace.calls if _makes_optimizer(call)]
    ours = [call for call in made if not _ASIDE.search(call.target)] or made
    yield from agreed(each for call in ours for each in _name(call))
    yield from agreed(each for call in ours for each in _rate(call))


def spread_over_devices(reading: Reading) -> Iterator[Claim]:
    """`pmap` and a mesh of one axis over the data; more axes may mean anything."""
    for call in calls_of(reading, "Mesh", "make_mesh"):
        if is_of(call.callee, "jax"):
            yield from _mesh(call)
            return
    for call in calls_of(reading, "pmap", "jax_utils.replicate"):
        if is_of(call.callee, "jax", "flax"):
            yield from implied_claim("parallelism", "dp", call)
            return


def flax_precision(reading: Reading) -> Iterator[Claim]:
    """The type of numbers that a model of flax computes in: `Net(dtype=jnp.bfloat16)`."""
    if not any(is_of(each.name, "flax") for each in reading.trace.imports):
        return
    made = [call for call in reading.trace.calls if is_of(call.callee, "flax.linen", "flax.nnx")]
    found: list[tuple[Value | None, Place]] = [(call.keywords.get("dtype"), call) for call in made]
    found += [
        (part_of(each.value, "dtype"), each)
        for each in reading.trace.bindings
        if isinstance(each.value.data, Table) and each.value.data.of is not None
    ]
    halves = [
        (dtype, at)
        for dtype, at in found
        if text_of(dtype) in _HALVES and at.reached is Reached.EXECUTED
    ]
    yield from agreed(each for dtype, at in halves for each in claim("precision", dtype, at))


def flax_checkpoints(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, *_SAVES):
        yield from claim("checkpoint_dir", call.argument("ckpt_dir", 0), call)
        yield from claim("checkpoint_every", call.every, call, confidence=0.9)
        break
    for call in calls_of(reading, *_RESTORES):
        if is_of(call.callee, "flax", "clu", "orbax"):
            yield from implied_claim("resumes", True, call, confidence=0.85)
            break


def orbax_checkpoints(reading: Reading) -> Iterator[Claim]:
    for call in calls_of(reading, "CheckpointManager"):
        if is_of(call.callee, "orbax"):
            yield from claim("checkpoint_dir", call.argument("directory", 0), call)
    for call in calls_of(reading, "CheckpointManagerOptions"):
        yield from claim("checkpoint_every", call.argument("save_interval_steps", 0), call)
    for call in calls_of(reading, "PeriodicCheckpointAction"):
        yield from claim("checkpoint_every", call.argument("every_steps"), call)


def _makes_optimizer(call: Call) -> bool:
    return is_of(call.callee, "optax", "flax.optim") and last_name(call.callee) in _OPTIMIZERS


def _name(call: Call) -> Iterator[Claim]:
    name = last_name(call.callee).lower()
    yield from implied_claim("optimizer", _CALLED.get(name, name), call)


def _rate(call: Call) -> Iterator[Claim]:
    yield from claim("learning_rate", _highest(call.argument("learning_rate", 0)), call)


def _highest(rate: Value | None) -> Value | None:
    if rate is None or not isinstance(rate.data, LibraryObject):
        return rate
    schedule = rate.data.call
    known = _PEAKS.get(last_name(schedule.callee))
    if known is not None:
        value = schedule.argument(*known)
        return value if (number_of(value) or 0) > 0 else None
    peaks = [_highest(each) for each in items_of(schedule.argument("schedules", 0))]
    found = [each for each in peaks if each is not None and number_of(each) is not None]
    return max(found, key=lambda each: number_of(each) or 0.0, default=None)


def _mesh(call: Call) -> Iterator[Claim]:
    axes = [text_of(each) for each in items_of(call.argument("axis_names", 1))]
    if axes == ["fsdp"]:
        yield from implied_claim("parallelism", "fsdp", call)
    elif len(axes) == 1 and axes[0] in _DATA_AXES:
        yield from implied_claim("parallelism", "dp", call)


FRAMEWORK = Framework(
    readers=(
        optax_optimizers,
        spread_over_devices,
        flax_checkpoints,
        flax_precision,
        orbax_checkpoints,
    )
)

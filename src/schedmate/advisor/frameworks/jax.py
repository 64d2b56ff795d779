"""JAX with optax, flax and orbax: optimisers, schedules, meshes, checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import is_of, items_of, last_name, number_of, text_of
from schedmate.advisor.frameworks.contract import Framework, Sample, Settings, restated, table_of
from schedmate.advisor.frameworks.doors import called
from schedmate.advisor.frameworks.rules import by_name, either
from schedmate.advisor.interpret.python.values import LibraryObject, Table, Value
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
_CALLS = called(
    ("jax", "optax", "flax", "orbax", "clu"),
    {
        **dict.fromkeys(_OPTIMIZERS, "learning_rate"),
        "Mesh": "devices axis_names",
        "make_mesh": "axis_shapes axis_names",
        "save_checkpoint": "ckpt_dir",
        "save_checkpoint_multiprocess": "ckpt_dir",
        "CheckpointManager": "directory",
        "CheckpointManagerOptions": "save_interval_steps",
    },
)


def _calls(reading: Reading) -> Iterator[Settings]:
    """Without optimisers of a network beside the trained one, where it has one of its own; and
    modules of the job's own that say what numbers they compute in."""
    found = list(_CALLS(reading))
    optimizers = [each for each in found if _optimizer(each) is not None]
    aside = [each for each in optimizers if _ASIDE.search(getattr(each.at, "target", ""))]
    if len(aside) < len(optimizers):
        found = [each for each in found if not any(each is one for one in aside)]
    yield from found
    for binding in reading.trace.bindings:
        if isinstance(binding.value.data, Table) and binding.value.data.of is not None:
            yield Settings(table_of({"module": binding.value}), reading, at=binding)


def _optimizer(settings: Settings) -> Value | None:
    name = last_name(settings.callee)
    if name not in _OPTIMIZERS or not is_of(settings.callee, "optax", "flax.optim"):
        return None
    return settings.implied(_CALLED.get(name.lower(), name.lower()))


def _rate(settings: Settings) -> Value | None:
    return None if _optimizer(settings) is None else _highest(settings.get("*.learning_rate"))


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


def _mesh(settings: Settings) -> Value | None:
    """One axis over the data; more may mean anything."""
    names = settings.get("Mesh.axis_names") or settings.get("make_mesh.axis_names")
    axes = [text_of(each) for each in items_of(names)]
    if axes == ["fsdp"]:
        return settings.implied("fsdp")
    return settings.implied("dp") if len(axes) == 1 and axes[0] in _DATA_AXES else None


def _computes_in(settings: Settings) -> Value | None:
    """`Net(dtype=jnp.bfloat16)`"""
    of_flax = is_of(settings.callee, "flax.linen", "flax.nnx")
    dtype = settings.get("*.dtype") if of_flax else settings.get("module.dtype")
    name = text_of(dtype)
    return None if dtype is None or name not in _HALVES else restated(dtype, name)


FRAMEWORK = Framework(
    settings={
        "optimizer": _optimizer,
        "learning_rate": _rate,
        "parallelism": either(_mesh, by_name("pmap|replicate", "dp", "jax", "flax")),
        "precision": _computes_in,
        "checkpoint_dir": "save_checkpoint.ckpt_dir save_checkpoint_multiprocess.ckpt_dir "
        "CheckpointManager.directory",
        "checkpoint_every": "save_checkpoint.every save_checkpoint_multiprocess.every "
        "CheckpointManagerOptions.save_interval_steps PeriodicCheckpointAction.every_steps",
    },
    calls=_calls,
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "import jax, optax, flax\n"
                "schedule = optax.warmup_cosine_decay_schedule(0.0, 3e-4, 10, decay_steps=100)\n"
                "tx = optax.chain(optax.clip(1.0), optax.adamw(schedule, weight_decay=0.1))\n"
                "step = jax.pmap(train_step, axis_name='batch')\n",
            },
            claims={"optimizer": "adamw", "learning_rate": 3e-4, "parallelism": "dp"},
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import optax\nfrom jax.sharding import Mesh\n"
                "mesh = Mesh(devices, ('data',))\n"
                "warm = optax.linear_schedule(0.0, 0.1, transition_steps=5)\n"
                "decay = optax.cosine_decay_schedule(init_value=0.1, decay_steps=95)\n"
                "tx = optax.sgd(optax.join_schedules([warm, decay], [5]), momentum=0.9)\n",
            },
            claims={"optimizer": "sgd", "learning_rate": 0.1, "parallelism": "dp"},
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import flax.linen as nn\nimport jax.numpy as jnp\n"
                "from jax.sharding import Mesh\nfrom flax.training import checkpoints\n"
                "mesh = Mesh(devices, ('data', 'model'))\n"
                "dense = nn.Dense(8, dtype=jnp.bfloat16)\n"
                "state = checkpoints.restore_checkpoint('work', state)\n"
                "for step in range(100):\n"
                "    if step % 10 == 0:\n"
                "        checkpoints.save_checkpoint('work', state, step)\n",
            },
            claims={
                "precision": "bfloat16",
                "checkpoint_dir": "work",
                "checkpoint_every": 10,
            },
        ),
        Sample(
            command="python train.py",
            files={
                "train.py": "import orbax.checkpoint as ocp\nfrom jax.sharding import Mesh\n"
                "mesh = Mesh(devices, ('fsdp',))\n"
                "options = ocp.CheckpointManagerOptions(save_interval_steps=500)\n"
                "manager = ocp.CheckpointManager('/ckpt/run', options=options)\n",
            },
            claims={
                "parallelism": "fsdp",
                "checkpoint_dir": "/ckpt/run",
                "checkpoint_every": 500,
            },
        ),
    ),
)

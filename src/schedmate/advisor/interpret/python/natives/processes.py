"""How many processes there are, and how many GPUs: libraries return what the launcher set."""

from __future__ import annotations

from collections.abc import Callable

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.natives.base import Native, NativeMethod
from schedmate.advisor.interpret.python.values import LibraryObject, Table, Value
from schedmate.advisor.launch.processes import Count, Processes

_COUNTERS = (
    "Accelerator",
    "PartialState",
    "AcceleratorState",
    "Fabric",
    "Trainer",
    "Lite",
    "JobEnvironment",
)
_MEMBERS: dict[str, Callable[[Processes], Count | None]] = {
    "num_processes": lambda started: started.total,
    "world_size": lambda started: started.total,
    "num_tasks": lambda started: started.total,
}


def counted(engine: Engine, value: Value, name: str) -> Value | None:
    """`accelerator.num_processes`, `fabric.world_size`."""
    ask = _MEMBERS.get(name)
    if ask is None or not isinstance(value.data, LibraryObject):
        return None
    if value.data.kind.rpartition(".")[2] not in _COUNTERS:
        return None
    return _value(ask(engine.processes))


def _value(count: Count | None) -> Value | None:
    return None if count is None else Value(count.number, count.lines, "derived")


def _asking(ask: Callable[[Processes], Count | None]) -> Native:
    def asked(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
        return _value(ask(engine.processes))

    return asked


def _world_size(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
    if isinstance(receiver.data, Table):
        return None
    return _value(engine.processes.total)


_ALL, _NODE = _asking(lambda started: started.total), _asking(lambda started: started.per_node)
_DEVICES = _asking(lambda started: started.devices)
_HOROVOD = ("horovod.torch", "horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras")

PROCESSES: dict[str, Native] = {
    "torch.distributed.get_world_size": _ALL,
    "torch.distributed.distributed_c10d.get_world_size": _ALL,
    "deepspeed.comm.get_world_size": _ALL,
    "jax.process_count": _ALL,
    **{f"{owner}.size": _ALL for owner in _HOROVOD},
    **{f"{owner}.local_size": _NODE for owner in _HOROVOD},
    "torch.cuda.device_count": _DEVICES,
    "torch.accelerator.device_count": _DEVICES,
    "jax.local_device_count": _DEVICES,
}
PROCESS_METHODS: dict[str, NativeMethod] = {"Get_size": _world_size}

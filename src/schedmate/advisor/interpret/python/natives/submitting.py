"""submitit: a program that submits a function of its own; what is submitted is the job."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.natives.base import Native
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.launch.processes import Count, Processes

_EXECUTORS = ("submitit.AutoExecutor", "submitit.SlurmExecutor", "submitit.slurm.SlurmExecutor")
_RANKS = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")


def _asks(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    """What is asked for is what the submitted function will find."""
    asked = {name.removeprefix("slurm_"): value for name, value in arguments.keywords.items()}
    per_node = _count(asked, "tasks_per_node", "ntasks_per_node")
    nodes = _count(asked, "nodes") or Count(1)
    if per_node is not None:
        total = per_node.times(nodes)
        devices = _count(asked, "gpus_per_node") or engine.processes.devices
        engine.processes = Processes(total, per_node, devices)
        for name in ("SLURM_NTASKS", "SLURM_NPROCS"):
            _export(engine, name, Value(str(total.number), total.lines, "derived"))
    return None


def _submits(engine: Engine, arguments: Arguments, site: Site) -> Value | None:
    if arguments.positional:
        for name in _RANKS:
            _export(engine, name, Value("0"))
        function, *rest = arguments.positional
        engine.call(function, Arguments(rest, arguments.keywords, arguments.complete), site)
    return None


def _export(engine: Engine, name: str, value: Value) -> None:
    parts = engine.environ.data.parts
    if name not in parts:
        engine.memory.write(parts, name, value)


def _count(asked: dict[str, Value], *names: str) -> Count | None:
    for name in names:
        value = asked.get(name)
        if value is not None and type(value.data) is int and value.data > 0:
            return Count(value.data, value.lines)
    return None


SUBMITTING: dict[str, Native] = {
    **{f"{kind}.update_parameters": _asks for kind in _EXECUTORS},
    **{f"{kind}.submit": _submits for kind in _EXECUTORS},
}

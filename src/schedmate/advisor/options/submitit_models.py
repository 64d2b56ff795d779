"""submitit: a program that submits a function of its own; what is submitted is the job."""

from __future__ import annotations

from collections.abc import Mapping

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, Value
from schedmate.advisor.launch.processes import Count, Processes

_EXECUTORS = ("submitit.AutoExecutor", "submitit.SlurmExecutor", "submitit.slurm.SlurmExecutor")
_RANKS = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")


def requested(call: Call, context: Context) -> Value | None:
    """What is requested is what the submitted function will find."""
    asked = {name.removeprefix("slurm_"): value for name, value in call.keywords.items()}
    per_node = _count(asked, "tasks_per_node", "ntasks_per_node")
    nodes = _count(asked, "nodes") or Count(1)
    if per_node is not None:
        total = per_node.times(nodes)
        devices = _count(asked, "gpus_per_node") or context.processes.devices
        context.processes = Processes(total, per_node, devices)
        for name in ("SLURM_NTASKS", "SLURM_NPROCS"):
            context.export(name, Value(str(total.number), total.lines, "derived"))
    return None


def submitted(call: Call, context: Context) -> Value | None:
    if call.positional:
        for name in _RANKS:
            context.export(name, Value("0"))
        function, *rest = call.positional
        context.invoke(function, rest, call.keywords)
    return None


def _count(asked: Mapping[str, Value], *names: str) -> Count | None:
    for name in names:
        value = asked.get(name)
        if value is not None and type(value.data) is int and value.data > 0:
            return Count(value.data, value.lines)
    return None


SUBMITIT: Mapping[str, CallModel] = {
    **{f"{kind}.update_parameters": requested for kind in _EXECUTORS},
    **{f"{kind}.submit": submitted for kind in _EXECUTORS},
}

"""What follows from how a job is launched, whatever framework it uses."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    derived,
    is_of,
    is_trained_by_transformers,
    number_of,
    text_of,
)
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.settle.claim import Claim

_WEAKEST = 0.55
"""FSDP and DeepSpeed are said more clearly."""
_STARTERS = frozenset({"torchrun", "launch", "run", "accelerate", "accelerate-launch", "srun"})


def spread_by_launcher(reading: Reading) -> Iterator[Claim]:
    """Trainers that wrap the model themselves do it where a launcher starts several of them."""
    if not any(name.rpartition(".")[2] in _STARTERS for name in reading.run.launchers):
        return
    total = reading.processes.total
    if (total is not None and total.number == 1) or not _wraps_by_itself(reading):
        return
    devices = reading.processes.devices
    if total is None and devices is not None and devices.number == 1:
        return
    lines = reading.run.command.evidence if total is None else total.lines
    lines = tuple(dict.fromkeys((*lines, *reading.run.command.evidence)))
    yield Claim(field="parallelism", value=Value("ddp", lines, "derived"), confidence=_WEAKEST)


def _wraps_by_itself(reading: Reading) -> bool:
    if is_trained_by_transformers(reading):
        return True
    if any(is_of(call.callee, "accelerate") for call in calls_of(reading, "Accelerator")):
        return True
    launcher = text_of(reading.options.get("launcher"))
    return launcher in ("pytorch", "slurm", "mpi") and any(
        is_of(each.name, "mmengine", "mmcv") for each in reading.trace.imports
    )


def submitit(reading: Reading) -> Iterator[Claim]:
    """What `executor.update_parameters(nodes=…, gpus_per_node=…)` asks the scheduler for."""
    asked: dict[str, Value] = {}
    for call in calls_of(reading, "update_parameters"):
        if is_of(call.callee, "submitit") and call.certain:
            asked |= {name.removeprefix("slurm_"): part for name, part in call.keywords.items()}
    nodes, gpus = asked.get("nodes"), asked.get("gpus_per_node")
    if nodes is not None and number_of(nodes):
        yield Claim(field="nodes", value=nodes)
    if gpus is not None and number_of(gpus):
        of_all = derived(int((number_of(gpus) or 0) * (number_of(nodes) or 1)), gpus)
        yield Claim(
            field="gpus", value=of_all if nodes is None else derived(of_all.data, gpus, nodes)
        )

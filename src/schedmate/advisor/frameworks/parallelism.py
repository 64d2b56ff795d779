"""How PyTorch spreads a model over devices, and what follows from how a job is launched."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    claim,
    derived,
    implied_claim,
    is_of,
    is_trained_by_transformers,
    last_name,
    number_of,
    text_of,
)
from schedmate.advisor.interpret.python.values import Call, Sequence, Value
from schedmate.advisor.launch.launchers import SPAWNERS
from schedmate.advisor.settle.claim import Claim

_WAYS = {
    "fsdp": "FullyShardedDataParallel fully_shard FSDP",
    "tp": "parallelize_module ColumnParallelLinear",
    "pp": "PipelineStage ScheduleGPipe Schedule1F1B Pipe",
    "ddp": "DistributedDataParallel DDP replicate",
    "dp": "DataParallel",
}
_LIBRARIES = ("torch", "apex", "fairscale", "torch_geometric", "megatron", "timm")
_WAY_OF = {name: way for way, names in _WAYS.items() for name in names.split()}


def torch_parallelism(reading: Reading) -> Iterator[Claim]:
    """The way the model is wrapped. A choice between ways is settled by how the job is started."""
    found = [call for call in calls_of(reading, *_WAY_OF) if is_of(call.callee, *_LIBRARIES)]
    many = _many_processes(reading)
    sure = _by_way([call for call in found if call.certain])
    if not sure and many:
        sure = _by_way([call for call in found if _WAY_OF[last_name(call.callee)] != "dp"])
    if sure:
        way, call = _strongest(sure)
        yield from implied_claim("parallelism", way, call, certain=True)
        return
    yield from _possible(reading, _by_way(found), many=many)


def split_over(reading: Reading) -> Value | None:
    """How many GPUs share each batch of the loader: `DataParallel` surely wraps the model."""
    found = [call for call in calls_of(reading, *_WAY_OF) if is_of(call.callee, *_LIBRARIES)]
    ways = _by_way([call for call in found if call.certain])
    if ways.keys() != {"dp"} or _many_processes(reading):
        return None
    listed = ways["dp"].argument("device_ids", 1)
    if listed is not None and isinstance(listed.data, Sequence) and listed.data.complete:
        return Value(len(listed.data.items), listed.lines, "derived")
    devices = reading.processes.devices
    if devices is None or (listed is not None and listed.data is not None):
        return None
    return Value(devices.number, devices.lines, "derived")


def _possible(reading: Reading, found: dict[str, Call], *, many: bool) -> Iterator[Claim]:
    """Wrapped perhaps: believed where something starts the job that can start several of it."""
    ways = found.keys() - {"dp"}
    if len(ways) == 1 and reading.run.launchers:
        way = ways.pop()
        yield from implied_claim("parallelism", way, found[way], confidence=0.7)
    elif found.keys() == {"dp"} and _has_several_devices(reading):
        yield from implied_claim("parallelism", "dp", found["dp"], confidence=0.8)
    elif not found:
        for call in calls_of(reading, "init_process_group"):
            if is_of(call.callee, "torch.distributed"):
                if many:
                    shown = Value("ddp", (call.line, *reading.run.command.evidence))
                    yield from claim("parallelism", shown, call, confidence=0.6, certain=True)
                return


def _has_several_devices(reading: Reading) -> bool:
    devices = reading.processes.devices
    return devices is not None and devices.number > 1 and not _many_processes(reading)


def _by_way(calls: list[Call]) -> dict[str, Call]:
    found: dict[str, Call] = {}
    for call in calls:
        found.setdefault(_WAY_OF[last_name(call.callee)], call)
    return found


def _strongest(found: dict[str, Call]) -> tuple[str, Call]:
    if {"tp", "pp"} <= found.keys():
        return "3d", found["pp"]
    way = next(way for way in _WAYS if way in found)
    return way, found[way]


def _many_processes(reading: Reading) -> bool:
    total = reading.processes.total
    if total is not None and total.number > 1:
        return True
    if SPAWNERS.intersection(reading.run.launchers):
        return True
    return any(call.certain for call in calls_of(reading, "multiprocessing.spawn", "mp.spawn"))


_WEAKEST = 0.55
"""FSDP and DeepSpeed are stated more clearly."""
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

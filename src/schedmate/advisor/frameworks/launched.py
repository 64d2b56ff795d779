"""What a launcher hands to the job: `accelerate launch` with its options and its YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    calls_of,
    derived,
    is_of,
    is_trained_by_transformers,
    number_of,
    part_of,
    text_of,
    truth_of,
)
from schedmate.advisor.frameworks.deepspeed_config import deepspeed_said
from schedmate.advisor.interpret.python.values import Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.settle.claim import Claim
from schedmate.model import Evidence

_WEAKER = 0.9
"""What the Accelerator is told in the code goes over it."""
_WEAKEST = 0.55
"""FSDP and DeepSpeed are said more clearly."""
_STARTERS = frozenset({"torchrun", "launch", "run", "accelerate", "accelerate-launch", "srun"})


@dataclass(frozen=True, slots=True)
class _Launch:
    """The place where something is launched."""

    line: Evidence
    certain: bool = True
    depth: int = 0


def accelerate_launch(reading: Reading) -> Iterator[Claim]:
    for launcher in reading.run.launched:
        if launcher.name.startswith("accelerate"):
            yield from _told(reading, launcher.options)


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


def _told(reading: Reading, options: Mapping[str, Word]) -> Iterator[Claim]:
    given = {name: _value(word) for name, word in options.items() if word.known}
    file = given.get("config_file")
    config = reading.read_config(file.data) if file is not None else None
    yield from _precision(given.get("mixed_precision") or part_of(config, "mixed_precision"))
    steps = given.get("gradient_accumulation_steps") or part_of(
        config, "deepspeed_config", "gradient_accumulation_steps"
    )
    if steps is not None and text_of(steps) != "auto":
        yield Claim(field="gradient_accumulation", value=steps, confidence=_WEAKER)
    yield from _deepspeed_file(reading, given, config)
    yield from _parallelism(given, config)


def _precision(value: Value | None) -> Iterator[Claim]:
    if value is not None and text_of(value) not in (None, "no"):
        yield Claim(field="precision", value=value, confidence=_WEAKER)


def _deepspeed_file(
    reading: Reading, given: Mapping[str, Value], config: Value | None
) -> Iterator[Claim]:
    inside = part_of(config, "deepspeed_config", "deepspeed_config_file")
    path = given.get("deepspeed_config_file") or inside
    if path is not None and path.lines:
        yield from deepspeed_said(reading, path, _Launch(path.lines[0]))


def _parallelism(given: Mapping[str, Value], config: Value | None) -> Iterator[Claim]:
    kind = part_of(config, "distributed_type")
    stage = given.get("zero_stage") or part_of(config, "deepspeed_config", "zero_stage")
    for name, way in (("use_fsdp", "fsdp"), ("use_deepspeed", ""), ("multi_gpu", "ddp")):
        flag = given.get(name)
        if flag is not None and truth_of(flag) is True:
            yield from _way(way or _zero(stage), stage if not way and stage else flag)
            return
    if kind is None:
        processes = given.get("num_processes")
        if processes is not None and text_of(processes) not in (None, "1"):
            yield from _way("ddp", processes)
        return
    name = (text_of(kind) or "").upper()
    if name == "DEEPSPEED":
        yield from _way(_zero(stage), stage or kind)
    else:
        yield from _way({"FSDP": "fsdp", "MULTI_GPU": "ddp"}.get(name), kind)


def _zero(stage: Value | None) -> str | None:
    number = number_of(stage) or (int(text_of(stage) or 0) if _is_digit(stage) else 0)
    return f"zero{int(number)}" if number in (1, 2, 3) else None


def _is_digit(value: Value | None) -> bool:
    return (text_of(value) or "") in ("0", "1", "2", "3")


def _way(way: str | None, value: Value) -> Iterator[Claim]:
    if way is not None:
        said = Value(way, value.lines, value.source)
        yield Claim(field="parallelism", value=said, confidence=_WEAKER)


def _value(word: Word) -> Value:
    return Value(word.text, word.evidence, source_of(word.evidence))

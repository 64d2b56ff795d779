"""How many processes a job starts and how many GPUs each sees, from its launchers' own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.launchers import Launched
from schedmate.advisor.launch.run import PythonRun
from schedmate.model import Evidence

_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Count:
    """A number and the lines that it follows from."""

    number: int
    lines: tuple[Evidence, ...] = ()

    def times(self, other: Count) -> Count:
        return Count(min(self.number * other.number, _MOST), (*self.lines, *other.lines))


@dataclass(frozen=True, slots=True)
class Processes:
    """None where unknown."""

    total: Count | None = None
    per_node: Count | None = None
    devices: Count | None = None
    """GPUs that one of the processes sees."""


Setting = Callable[[str, str], Count | None]
"""A count in a config file that a launcher is told: the file's name, the setting's."""
_ONE = Count(1)


def processes(run: PythonRun, setting: Setting) -> Processes:
    """By the innermost launcher that counts."""
    for launched in reversed(run.launched):
        rule = _RULES.get(PurePosixPath(launched.name).name)
        if rule is not None:
            total, per_node = rule(_Start(run, launched.options, setting))
            return Processes(total, per_node, _devices(run, launched, per_node))
    return Processes(devices=_devices(run, None, None))


_Counted = tuple[Count | None, Count | None]
"""In all, and on each node."""


@dataclass(frozen=True, slots=True)
class _Start:
    run: PythonRun
    options: Mapping[str, Word]
    setting: Setting


def _torchrun(start: _Start) -> _Counted:
    per_node: Count | None = _ONE
    if _has(start.options, "nproc_per_node nproc"):
        per_node = _given(start.options, "nproc_per_node nproc") or _gpus_per_node(start.run)
    nodes: Count | None = _ONE
    if "nnodes" in start.options:
        nodes = _one_number(start.options["nnodes"]) or _nodes(start.run)
    total = per_node.times(nodes) if per_node is not None and nodes is not None else None
    return total, per_node


def _accelerate(start: _Start) -> _Counted:
    file = start.options.get("config_file")
    named = file.text if file is not None and file.known else None
    total = _given(start.options, "num_processes")
    if total is None and "num_processes" not in start.options and named is not None:
        total = start.setting(named, "num_processes")
    machines = _given(start.options, "num_machines")
    if machines is None and named is not None:
        machines = start.setting(named, "num_machines")
    if total is None or machines is None or total.number % max(machines.number, 1):
        return total, total if machines is None and "num_machines" not in start.options else None
    return total, Count(total.number // max(machines.number, 1), total.lines)


def _deepspeed(start: _Start) -> _Counted:
    included = start.options.get("include") or start.options.get("i")
    if included is not None:
        devices = re.fullmatch(r"localhost:(\d{1,3}(?:,\d{1,3}){0,63})", included.text)
        counted = Count(devices[1].count(",") + 1, included.evidence) if devices else None
        return counted, counted
    per_node = _given(start.options, "num_gpus") or _gpus_per_node(start.run)
    nodes = _given(start.options, "num_nodes")
    if nodes is None:
        hosts = _has(start.options, "hostfile H num_nodes")
        nodes = _nodes(start.run) if hosts else _ONE
    total = per_node.times(nodes) if per_node is not None and nodes is not None else None
    return total, per_node


def _srun(start: _Start) -> _Counted:
    nodes = _given(start.options, "N nodes") or _nodes(start.run) or _ONE
    per_node = _given(start.options, "ntasks_per_node")
    total = _given(start.options, "n ntasks")
    if total is None and not _has(start.options, "n ntasks"):
        total = per_node.times(nodes) if per_node is not None else _tasks(start.run)
    if per_node is None and total is not None and total.number % max(nodes.number, 1) == 0:
        per_node = Count(total.number // max(nodes.number, 1), total.lines)
    return total, per_node


def _mpirun(start: _Start) -> _Counted:
    total = _given(start.options, "np n num_proc ntasks")
    per_node = _given(start.options, "npernode ppn N tasks_per_node")
    if total is None and not _has(start.options, "np n num_proc ntasks"):
        nodes = _nodes(start.run)
        total = per_node.times(nodes) if per_node is not None and nodes is not None else None
        total = total or _tasks(start.run)
    return total, per_node


def _jsrun(start: _Start) -> _Counted:
    sets = _given(start.options, "n nrs")
    each = _given(start.options, "a tasks_per_rs") or _ONE
    return (None if sets is None else sets.times(each)), None


_RULES = {
    **dict.fromkeys(
        ("torchrun", "torch.distributed.run", "torch.distributed.launch", "colossalai"), _torchrun
    ),
    **dict.fromkeys(("accelerate", "accelerate-launch", "accelerate.commands.launch"), _accelerate),
    **dict.fromkeys(("deepspeed", "ds", "deepspeed.launcher.runner"), _deepspeed),
    "srun": _srun,
    **dict.fromkeys(("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun"), _mpirun),
    **dict.fromkeys(("ibrun", "aprun", "flux", "horovodrun"), _mpirun),
    "jsrun": _jsrun,
}


def _devices(run: PythonRun, launched: Launched | None, per_node: Count | None) -> Count | None:
    visible = run.env.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        listed = re.fullmatch(r"\d{1,3}(?:,\d{1,3}){0,63}", visible.text)
        known = listed is not None and visible.known
        return Count(visible.text.count(",") + 1, visible.evidence) if known else None
    if launched is not None and launched.name == "srun":
        return _given(launched.options, "gpus_per_task") or _gpus_per_task(run)
    return _gpus_per_node(run) or per_node


def _gpus_per_task(run: PythonRun) -> Count | None:
    stated = run.asked.options.get("gpus-per-task")
    if stated is None:
        return _gpus_per_node(run)
    last = stated[0].rpartition(":")[2]
    return Count(int(last), (stated[1],)) if last.isdecimal() and len(last) < 4 else None  # noqa: PLR2004 - digits of a count


def _gpus_per_node(run: PythonRun) -> Count | None:
    gpus, nodes = run.asked.gpus, run.asked.nodes or 1
    if gpus is None or not gpus[0] or gpus[0] % nodes:
        return None
    return Count(gpus[0] // nodes, gpus[1])


def _nodes(run: PythonRun) -> Count | None:
    nodes = run.asked.nodes
    return None if nodes is None else Count(nodes, (run.asked.options["nodes"][1],))


def _tasks(run: PythonRun) -> Count | None:
    """Slurm starts one a node where nobody says how many."""
    asked = run.asked
    if asked.tasks is None:
        return _nodes(run)
    name = "ntasks" if asked.text("ntasks") else "ntasks-per-node"
    return Count(asked.tasks, (asked.options[name][1],))


def _has(options: Mapping[str, Word], names: str) -> bool:
    return any(name in options for name in names.split())


def _given(options: Mapping[str, Word], names: str) -> Count | None:
    return next((_number(options[name]) for name in names.split() if name in options), None)


def _number(word: Word | None) -> Count | None:
    if word is None or not word.known or re.fullmatch(r"[1-9]\d{0,5}", word.text) is None:
        return None
    return Count(int(word.text), word.evidence)


def _one_number(word: Word) -> Count | None:
    """`--nnodes 2:2` is 2 as well."""
    least, _, most = word.text.partition(":")
    return _number(replace(word, text=least)) if most in ("", least) else None

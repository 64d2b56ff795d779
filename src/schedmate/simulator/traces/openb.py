"""Alibaba openb (2023): pods with shares of a GPU, and the nodes they ran on.

A share of a GPU counts as one GPU. A pod that was deleted while it ran was cancelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from schedmate.model import BadInput, JobState
from schedmate.simulator.traces import cells
from schedmate.simulator.traces.base import TraceJob
from schedmate.simulator.traces.cells import Row
from schedmate.simulator.traces.gathering import LeftOut
from schedmate.simulator.traces.opening import only_a_regular_file, opened
from schedmate.simulator.traces.separated import CsvFormat, csv_rows, header_of

_PHASES = {
    "Succeeded": JobState.COMPLETED,
    "Failed": JobState.FAILED,
    "Running": JobState.CANCELLED,
}
_NODE_COLUMNS = ("sn", "gpu", "model")


def job_of(row: Row) -> TraceJob | LeftOut:
    gpus = cells.whole(row, "num_gpu")
    if not gpus:
        return LeftOut.NO_GPU
    started = cells.time_if_given(row, "scheduled_time")
    phase = cells.text(row, "pod_phase")
    if phase == "Pending" or started is None:
        return LeftOut.NEVER_RAN
    if phase not in _PHASES:
        raise ValueError(f"pod_phase is {cells.shown(phase)}; known are {', '.join(_PHASES)}")
    return TraceJob(
        job_id=cells.text(row, "name"),
        user="",
        submit_time=cells.number(row, "creation_time"),
        duration=cells.number(row, "deletion_time") - started,
        gpus=gpus,
        status=_PHASES[phase],
        start_time=started,
        gpu_type=cells.text(row, "gpu_spec") or None,
    )


OPENB = CsvFormat(
    "Alibaba openb",
    ("name", "num_gpu", "pod_phase", "creation_time", "deletion_time", "scheduled_time"),
    job_of,
)


@dataclass(frozen=True, slots=True)
class NodeRow:
    name: str
    gpus: int
    gpu_type: str | None


def read_nodes(path: Path) -> tuple[NodeRow, ...]:
    """The nodes with GPUs of openb's node table."""
    only_a_regular_file(path)
    if missing := [name for name in _NODE_COLUMNS if name not in header_of(path)]:
        raise BadInput(f"{path} is no table of nodes: it lacks {', '.join(missing)}")
    with opened(path) as file:
        rows = [row for _, row in csv_rows(file) if not isinstance(row, str)]
    try:
        nodes = [(row["sn"], cells.whole(row, "gpu"), row["model"] or None) for row in rows]
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    return tuple(NodeRow(*node) for node in nodes if node[1])

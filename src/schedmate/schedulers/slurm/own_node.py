"""What the kernel shows of jobs that run on this very machine, to root and to their owners.

Processes on other machines are not looked at: that would take a step in a job of its owner's.
"""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.model import Activity, SchedulerError
from schedmate.schedulers.kernel import waiting_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from schedmate.model import Job, JobId, NodeState

    Ask = Callable[..., str]

_MOST_JOBS = 20
"""Each costs a request to the slurmd of this machine."""


def with_waiting(
    ask: Ask,
    measured: Mapping[JobId, Activity],
    numbers: Mapping[str, Job],
    nodes: Iterable[NodeState],
) -> dict[JobId, Activity]:
    """What was measured, with where the processes of jobs wait that have this machine alone."""
    found = dict(measured)
    here = _nodes_here(nodes)
    ours = [
        (number, job) for number, job in numbers.items() if job.nodes and here.issuperset(job.nodes)
    ]
    for number, job in ours[:_MOST_JOBS]:
        pids = [pid for node in job.nodes for pid in _pids(ask, number, node)]
        if pids:
            blocked, stuck = waiting_of(pids)
            before = found.get(job.id, Activity())
            found[job.id] = replace(before, blocked=blocked, stuck=stuck)
    return found


def _nodes_here(nodes: Iterable[NodeState]) -> set[str]:
    name = socket.gethostname()
    names = {name, name.partition(".")[0]}
    return {node.name for node in nodes if names.intersection((node.name, *node.hosts))}


def _pids(ask: Ask, number: str, node: str) -> list[int]:
    """None where slurmd does not answer: it may be another one's that runs here."""
    try:
        text = ask("scontrol", "listpids", number, node)
    except SchedulerError:
        return []
    first = (line.split()[:1] for line in text.splitlines()[1:])
    return [int(word) for words in first for word in words if word.isdecimal()]

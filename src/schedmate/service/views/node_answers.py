"""Nodes as a viewer may see them: how they are, why one is suspect, what would take it out."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from schedmate.service.views.answers import copied
from schedmate.service.views.site_answers import NodeAnswer

if TYPE_CHECKING:
    from schedmate.service.records.nodes import NodeView
    from schedmate.service.visibility import Viewer


def node_answer(
    view: NodeView, viewer: Viewer, scheduler: str, *, running: int | None = None
) -> NodeAnswer:
    suspicion = viewer.suspicion(view.suspicion)
    return copied(
        NodeAnswer,
        view.state,
        suspect=suspicion.suspect,
        probability=suspicion.probability,
        failures=suspicion.failures,
        successes=suspicion.successes,
        users=suspicion.users,
        evidence=suspicion.evidence,
        running=running,
        command=drain_command(view, scheduler) if viewer.operator else None,
    )


def drain_command(view: NodeView, scheduler: str) -> str | None:
    """What an operator would run to take a suspect node out; None where there is no need."""
    if not view.suspicion.suspect or view.state.condition != "up":
        return None
    suspicion = view.suspicion
    why = f"suspect: {suspicion.failures} hardware-like failures of {suspicion.users} users"
    if scheduler != "slurm":
        is_gpu = ":" in view.name
        return f"schedmate nodes {view.name} --drain {shlex.quote(why)}" if is_gpu else None
    name = shlex.quote(f"NodeName={view.name}")
    return f"scontrol update {name} State=DRAIN Reason={shlex.quote(why)}"

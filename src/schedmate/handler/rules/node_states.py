"""What the scheduler says of the nodes of a run that failed.

The log's own cause stands before it in time and wins; a signal, a lost peer or an exit code does
not. A run that did not fail is not blamed on a node that did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schedmate.handler.case import Case
from schedmate.handler.nodes import node_faults
from schedmate.handler.rules.base import Rule
from schedmate.model import JobState, NodeState

if TYPE_CHECKING:
    from collections.abc import Callable

_EXAMPLES: Final[dict[str, tuple[NodeState, ...]]] = {
    "gpu_ecc": (
        NodeState(name="n1", condition="drain", reason="NHC: GPU 3 uncorrectable ECC errors"),
        NodeState(name="n1", condition="drain", reason="Xid 95 on 0000:3b:00.0"),
    ),
    "gpu_lost": (
        NodeState(
            name="n1",
            condition="drain",
            reason="gres/gpu count reported lower than configured (7 < 8)",
        ),
        NodeState(name="n1", condition="down", reason="Xid 79: GPU has fallen off the bus"),
    ),
    "nvlink": (NodeState(name="n1", condition="drain", reason="NVLink inactive on GPU 2"),),
    "gpu_hardware": (
        NodeState(name="n1", condition="drain", reason="dcgm health check failed"),
        NodeState(name="n1", condition="drain", reason="check_hw_gpu: gpu2 Xid 62"),
    ),
    "network": (NodeState(name="n1", condition="drain", reason="check_hw_ib: ib0 not ACTIVE"),),
    "node_failure": (
        NodeState(name="n1", condition="down"),
        NodeState(name="n1", condition="down", reason="Not responding"),
        NodeState(name="n1", condition="drain", reason="Kill task failed"),
        NodeState(name="n1", condition="drain", reason="NHC: /local file system not mounted"),
    ),
}
_FAILED: Final = Case(state=JobState.FAILED, signal=9, nodes=("n1", "n2"))


def _case(node: NodeState, started_at: float | None = None, ended_at: float | None = None) -> Case:
    return replace(_FAILED, node_states=(node,), started_at=started_at, ended_at=ended_at)


_HARMLESS: Final = (
    _case(NodeState(name="n1", condition="up", up_since=1.0), started_at=2.0),
    _case(NodeState(name="n1", condition="drain", reason="maintenance on Monday")),
    _case(NodeState(name="n3", condition="down")),
    _case(NodeState(name="n1", condition="down", reason="GPU ECC", since=5.0), started_at=6.0),
    _case(
        NodeState(name="n1", condition="drain", reason="GPU ECC", since=9000.0),
        started_at=6.0,
        ended_at=60.0,
    ),
    replace(
        _case(NodeState(name="n1", condition="down", reason="Xid 79")),
        state=JobState.COMPLETED,
        signal=None,
    ),
)


def _of(reason: str) -> Callable[[Case], bool]:
    return lambda case: case.failing and reason in node_faults(case).values()


RULES = tuple(
    Rule(
        name="node-state",
        reason=reason,
        predicate=_of(reason),
        reported_by="scheduler",
        confidence=0.8,
        positives=tuple(_case(state) for state in states),
        negatives=_HARMLESS,
    )
    for reason, states in _EXAMPLES.items()
)

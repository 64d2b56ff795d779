"""From the text of `scontrol -o show node` to nodes. Pure: text in, nodes out.

One line a node. What an operator wrote as a reason stands at its end and may look like anything,
so everything else is read from what stands before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedmate.model import NodeState
from schedmate.schedulers.slurm import values

if TYPE_CHECKING:
    from schedmate.model import NodeCondition

_FIELD = re.compile(r"(?:^| )(NodeName|State|Partitions|BootTime)=(\S*)")
_SET_BY = re.compile(r" \[[^\[\]@]{0,100}@(\w[\w:.\-]{0,40})\]")
_GONE = frozenset({"DOWN", "NOT_RESPONDING", "NO_RESPOND", "FAIL", "FAILING", "ERROR"})
_CLOSED = frozenset({"DRAIN", "DRAINED", "DRAINING"})


def node_states(text: str) -> list[NodeState]:
    return [_node(line) for line in text.splitlines() if line.startswith("NodeName=")]


def _node(line: str) -> NodeState:
    facts, _, because = line.partition(" Reason=")
    found = dict(reversed(_FIELD.findall(facts)))  # the first of a name counts
    reason, since = _reason(because)
    listed = found.get("Partitions", "")
    return NodeState(
        name=found.get("NodeName", ""),
        condition=_condition(found.get("State", "")),
        state=found.get("State", "").lower(),
        reason=reason,
        since=since,
        up_since=values.epoch(found.get("BootTime", "")),
        partitions=tuple(name for name in listed.split(",") if name and name != "(null)"),
    )


def _condition(state: str) -> NodeCondition:
    """`IDLE+DRAIN`, `DOWN*+POWERED_DOWN`; a star means that it does not answer."""
    words = set(re.split(r"[+*~#!%$@^\-]{1,4}", state.upper()))
    if words & _GONE or "*" in state:
        return "down"
    if words & _CLOSED:
        return "drain"
    return "up" if state else "unknown"


def _reason(text: str) -> tuple[str, float | None]:
    """Slurm adds `[user@time]`, and other fields after that."""
    stamp = _SET_BY.search(text)
    if stamp is None:
        return text.strip(), None
    return text[: stamp.start()].strip(), values.epoch(stamp[1])

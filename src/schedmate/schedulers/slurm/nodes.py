"""From the text of `scontrol -o show node` to nodes. Pure: text in, nodes out.

One line a node. What an operator wrote as a reason stands at its end and may look like anything,
so everything else is read from what stands before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedmate.model import NodeState, NotFound, SchedulerError
from schedmate.schedulers.slurm import values
from schedmate.schedulers.slurm.values import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import NodeCondition

_FIELD = re.compile(
    r"(?:^| )(NodeName|NodeHostName|NodeAddr|State|Partitions|BootTime|ActiveFeatures)=(\S*)"
)
_RESERVATION = re.compile(r"(?:^| )(ReservationName|Nodes|State)=(\S*)")
_SET_BY = re.compile(r" \[[^\[\]@]{0,100}@(\w[\w:.\-]{0,40})\]")
_GONE = frozenset({"DOWN", "NOT_RESPONDING", "NO_RESPOND", "FAIL", "FAILING", "ERROR"})
_CLOSED = frozenset({"DRAIN", "DRAINED", "DRAINING"})


def node_states(text: str, reservations: str = "") -> list[NodeState]:
    """`reservations` is the output of `scontrol -o show reservation`."""
    held = _reserved(reservations)
    return [_node(line, held) for line in text.splitlines() if line.startswith("NodeName=")]


def refuse_unless_up(name: str, found: Sequence[NodeState]) -> None:
    """Somebody else's drain, and its reason, are never overwritten."""
    if not found:
        raise NotFound(f"Slurm knows no node {name}")
    if found[0].condition != "up":
        raise SchedulerError(f"node {name} is {found[0].state} already, and is left as it is")


def refuse_unless_drained(name: str, reason: str, found: Sequence[NodeState]) -> None:
    """A node that an operator has taken over, or that is down, is not ours to resume."""
    if not found:
        raise NotFound(f"Slurm knows no node {name}")
    if found[0].condition != "drain" or found[0].reason != reason:
        why = f" ({found[0].reason})" if found[0].reason else ""
        raise SchedulerError(f"node {name} is {found[0].state}{why}: changed since, left as it is")


def _reserved(text: str) -> dict[str, tuple[str, ...]]:
    """The reservations that hold a node now, by node."""
    held: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        found = dict(reversed(_RESERVATION.findall(line)))
        if found.get("State") == "ACTIVE":
            for node in expand(found.get("Nodes", "")):
                held[node] = (*held.get(node, ()), found["ReservationName"])
    return held


def _node(line: str, reserved: dict[str, tuple[str, ...]]) -> NodeState:
    facts, _, because = line.partition(" Reason=")
    found = dict(reversed(_FIELD.findall(facts)))  # the first of a name counts
    reason, since = _reason(because)
    name = found.get("NodeName", "")
    return NodeState(
        name=name,
        hosts=tuple(found[one] for one in ("NodeHostName", "NodeAddr") if found.get(one)),
        condition=condition(found.get("State", "")),
        state=found.get("State", "").lower(),
        reason=reason,
        since=since,
        up_since=values.epoch(found.get("BootTime", "")),
        partitions=_listed(found.get("Partitions", "")),
        features=_listed(found.get("ActiveFeatures", "")),
        reservations=reserved.get(name, ()),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name and name != "(null)")


def condition(state: str) -> NodeCondition:
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

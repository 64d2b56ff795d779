"""Who wrote a line: what launchers put before it, one round another."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_HEAD = 160
_MAX_LAYERS = 5
_RANK = re.compile(
    r"\s{0,8}(?:"
    r"\[(?:rank|default|Rank )?(?P<bracket>\d{1,6})\]\s?:"  # torchrun, DeepSpeed
    r"|\[(?:[\w.-]{1,80}@)?\d{1,4},(?P<mpi>\d{1,6})\]<std(?:out|err)>:"  # mpirun --tag-output
    r"|\((?:[\w.-]{1,60} )?(?:rank=(?P<ray>\d{1,6})|pid=(?P<pid>\d{1,9}))[^)]{0,80}\)"  # Ray
    r"|(?P<bare>\d{1,6}):(?= )"  # srun --label
    r")\s?",
    re.ASCII,
)
_COLLECTED = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?"
    r"|\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d"
    r"(?:[.,]\d{1,9})?(?: \d{4})?\]?(?: ?- ?[A-Z]{4,8} ?-)? ?"
    r"(?=\[[\w.@-]{0,84}\d,\d{1,6}\]<std|\[rank\d)"
    r"|(?:[^\s\[\]:]{1,60}|\[[\w.-]{1,60}\]) (?=\[(?:rank|default)\d{1,6}\]:)",
    re.ASCII,
)
"""docker logs -t, kubectl logs --timestamps, the files of a container runtime; any time or the name
of a task before the rank of a launcher."""
_POD = re.compile(r"\[pod/([\w.-]{1,120})/[\w.-]{1,80}\] ?", re.ASCII)
_IP = re.compile(r"\bip=([\w.:-]{3,60})", re.ASCII)
_NODE = re.compile(r"([A-Za-z][\w.-]{0,62}|\d{1,3}(?:\.\d{1,3}){3}): ", re.ASCII)
_NODE_NAME = re.compile(
    r"(?:node|nid|worker|host|compute|cn|dgx|hgx|ip|server|slave|master|vm)[\w.-]{0,50}\d"
    r"(?:\.[\w.-]{1,60})?|\d{1,3}(?:\.\d{1,3}){3}",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sender:
    """`stream` is what all lines of the same process begin with; empty where nothing does."""

    text: str
    rank: int | None = None
    node: str = ""
    stream: str = ""
    bare_number: bool = False
    """The rank may just as well be a count: `120: loss 0.3`."""


def unwrap(line: str) -> tuple[int | None, str]:
    """The rank, or the process, that a launcher put before a line, and the line without it."""
    found = _RANK.match(line[:_HEAD])
    if found is None or found.end() == len(line):
        return None, line
    rank = next(group for group in found.groups() if group is not None)
    return int(rank), line[found.end() :]


def is_bare_number(line: str) -> bool:
    """Whether the rank may just as well be a count: `120: loss 0.3`."""
    return line.lstrip()[:1].isdigit()


def opened(line: str, nodes: Collection[str] = ()) -> Sender:
    """Take every envelope off a line: time of collection, pod, node, rank, in any order."""
    sender = Sender(line)
    for _ in range(_MAX_LAYERS):
        inner = _one_off(sender, nodes)
        if inner is None:
            break
        sender = inner
    return sender


def _one_off(sender: Sender, nodes: Collection[str]) -> Sender | None:
    text = sender.text
    first = text[:1]
    if first.isalpha():
        found = _COLLECTED.match(text[:_HEAD])
        return _node_off(sender, nodes) if found is None else _inside(sender, found.end())
    if first not in "[( 0123456789" or not first:
        return None
    found = _COLLECTED.match(text[:_HEAD])
    if found is not None:
        return _inside(sender, found.end())
    found = _POD.match(text[: 2 * _HEAD])
    if found is not None:
        return _inside(sender, found.end(), node=found[1], named=found[0])
    return _rank_off(sender) or (_node_off(sender, nodes) if first.isdigit() else None)


def _rank_off(sender: Sender) -> Sender | None:
    found = _RANK.match(sender.text[:_HEAD])
    if found is None or (found["bare"] and sender.rank is not None):
        return None
    rank = found["bracket"] or found["mpi"] or found["ray"] or found["bare"]
    ip = _IP.search(found[0]) if found["pid"] or found["ray"] else None
    return _inside(
        sender,
        found.end(),
        rank=None if rank is None else int(rank),
        node=ip[1] if ip else "",
        named=found[0],
        bare_number=found["bare"] is not None,
    )


def _node_off(sender: Sender, nodes: Collection[str]) -> Sender | None:
    """`node7: ` of pdsh; but `python3: ` and `ValueError: ` are no nodes."""
    found = _NODE.match(sender.text[:_HEAD])
    if found is None or sender.node:
        return None
    if found[1] not in nodes and _NODE_NAME.fullmatch(found[1]) is None:
        return None
    return _inside(sender, found.end(), node=found[1], named=found[0])


def _inside(
    outer: Sender,
    end: int,
    *,
    rank: int | None = None,
    node: str = "",
    named: str = "",
    bare_number: bool = False,
) -> Sender:
    return Sender(
        text=outer.text[end:],
        rank=outer.rank if rank is None else rank,
        node=node or outer.node,
        stream=f"{outer.stream} {named.strip()}".strip(),
        bare_number=bare_number or (outer.bare_number and rank is None),
    )

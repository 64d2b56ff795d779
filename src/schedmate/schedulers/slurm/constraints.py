"""What a job's own request allows: partition, features, reservation, nodes by name.

Where that is unknown, a node is not counted: a job keeps a node too many rather than one too few.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from schedmate.schedulers.slurm.values import expand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Job, NodeState, Request

_TOKEN = re.compile(r"[A-Za-z0-9_.:/=-]+|[&|()]")


def allows(request: Request, node: NodeState) -> bool:
    partitions = set((request.partition or "").split(",")) - {""}
    return (
        node.name not in request.exclude_nodes
        and (not partitions or bool(partitions & set(node.partitions)))
        and _reserved_alike(request, node)
        and has_features(request.features, node.features)
    )


def _reserved_alike(request: Request, node: NodeState) -> bool:
    """A job with a reservation runs on its nodes only, one without on none that is reserved."""
    wanted = set(request.reservation.split(",")) - {""}
    return bool(wanted & set(node.reservations)) if wanted else not node.reservations


def has_features(expression: str, features: Sequence[str]) -> bool:
    """`a100&(ib|roce)`: `&` binds like `|`, from left to right, as slurmctld reads it.

    False for counts, for `[a|b]` (the same one on all nodes), and for what is no expression.
    """
    text = expression.replace(",", "&").strip()
    if not text:
        return True
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text.replace(" ", ""):
        return False
    value, rest = _value(tokens, frozenset(features))
    return value and not rest


def _value(tokens: list[str], features: frozenset[str]) -> tuple[bool, list[str]]:
    """The value of what stands before the next closing bracket, and what follows it."""
    value, rest = _term(tokens, features)
    while rest and rest[0] in "&|":
        operator = rest[0]
        other, rest = _term(rest[1:], features)
        value = (value and other) if operator == "&" else (value or other)
    return value, rest


def _term(tokens: list[str], features: frozenset[str]) -> tuple[bool, list[str]]:
    if not tokens or tokens[0] in "&|)":
        return False, [")"]  # which ends every reading as not understood
    if tokens[0] != "(":
        return tokens[0] in features, tokens[1:]
    value, rest = _value(tokens[1:], features)
    return (value, rest[1:]) if rest and rest[0] == ")" else (False, [")"])


def excluding(job: Job, nodes: str) -> Job:
    """The job with the nodes that it excludes, which Slurm lists in its short form."""
    return replace(job, request=replace(job.request, exclude_nodes=expand(nodes)))

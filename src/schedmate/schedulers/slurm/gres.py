"""What Slurm writes of GPUs and of parts of them (`gres/shard`). Pure: text in, values out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from schedmate.schedulers.base import LentGpus
from schedmate.schedulers.slurm.values import expand

_ASKED = re.compile(r"\b(gpu|shard)(?::([^:,=()\d][^:,=()]*))?(?:[:=](\d+))?(?=,|\(|$)")
_WHERE = re.compile(r"(?:^| )Nodes=(\S+) CPU_IDs=\S+ Mem=\S+ GRES=\S*?shard\S*?\(IDX:([\d,-]+)\)")


class _Gres(NamedTuple):
    gpus: int
    shards: int
    types: frozenset[str]


def asked_shards(*texts: str) -> int:
    """Of `gres:shard:a100:2` or `gres/shard=2`, in the first text that names any."""
    return next((found for found in (_gres(text).shards for text in texts) if found), 0)


def lent_gpus(nodes: Iterable[str]) -> LentGpus | None:
    """By the `Gres` of nodes; None where not all of those with shards have as many on each GPU."""
    sharing = [one for one in map(_gres, nodes) if one.shards and one.gpus]
    parts = {one.shards / one.gpus for one in sharing}
    if len(parts) != 1 or not (each := parts.pop()).is_integer():
        return None
    return LentGpus(int(each), frozenset[str]().union(*(one.types for one in sharing)))


def gpus_in_use(shown: str) -> frozenset[str]:
    """Of one running job, by `scontrol -d -o show job`: `node0:1`; none where it does not tell."""
    return frozenset(
        f"{node}:{index}"
        for nodes, indices in _WHERE.findall(shown)
        for node in expand(nodes)
        for index in expand(f"[{indices}]")
    )


def _gres(text: str) -> _Gres:
    found = _ASKED.findall(text)
    count = {name: sum(int(n or 1) for each, _, n in found if each == name) for name, _, _ in found}
    types = frozenset(kind for _, kind, _ in found if kind)
    return _Gres(count.get("gpu", 0), count.get("shard", 0), types)


def shards_instead(asked: str, shards: int) -> str | None:
    """So many shards in the same words, with the type that is asked for; None where none are."""
    found = [one for one in _ASKED.findall(asked) if one[0] == "shard"]
    if len(found) != 1:
        return None
    kind = f":{found[0][1]}" if found[0][1] else ""
    return f"shard{kind}:{shards}"

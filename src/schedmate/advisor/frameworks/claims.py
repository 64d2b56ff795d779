"""Every claim about a job that its frameworks and the readers of its code make."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.index import in_sight
from schedmate.advisor.frameworks.readers import READERS
from schedmate.advisor.settle.claim import Claim


def claims(reading: Reading) -> Iterator[Claim]:
    return (claim for _, claim in claims_by_reader(reading))


def claims_by_reader(reading: Reading) -> Iterator[tuple[str, Claim]]:
    """With who makes it: `framework keras`, `reader optimizers`."""
    for signs, started in in_sight(reading.run, _packages(reading)):
        found = signs.load().claims(reading, started=started, own_code=signs.own_code)
        yield from ((f"framework {signs.module}", claim) for claim in found)
    for reader in READERS:
        yield from ((f"reader {reader.__name__}", claim) for claim in reader(reading))


def _packages(reading: Reading) -> frozenset[str]:
    """Packages that are imported or called, with the first part of their modules' names."""
    trace = reading.trace
    names = {each.name for each in (*trace.imports, *trace.own_imports)}
    names |= {call.callee for call in trace.calls}
    heads = [name.split(".", 2) for name in names]
    return frozenset((*(head[0] for head in heads), *(".".join(head[:2]) for head in heads)))

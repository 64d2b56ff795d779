"""Orderings for the live loop, by name. To add one: a file beside this one, and its class here."""

from __future__ import annotations

from schedmate.model import BadInput
from schedmate.model.priority import DEFAULT_ORDERING
from schedmate.policies.orderings.base import Candidate, Ordering, nice_of
from schedmate.policies.orderings.fifo import FifoOrdering
from schedmate.policies.orderings.sjf import SjfOrdering
from schedmate.policies.orderings.ssf import SsfOrdering

ORDERINGS: dict[str, type[Ordering]] = {
    kind.name: kind for kind in (FifoOrdering, SjfOrdering, SsfOrdering)
}


def ordering(name: str) -> Ordering:
    try:
        return ORDERINGS[name]()
    except KeyError:
        known = ", ".join(sorted(ORDERINGS))
        raise BadInput(f"no policy is called {name!r}; there are: {known}") from None


__all__ = ["DEFAULT_ORDERING", "ORDERINGS", "Candidate", "Ordering", "nice_of", "ordering"]

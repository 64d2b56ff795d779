"""Advice and actions are kept in memory once, however many hold them: pages, engine, trackers.

What is held already is not read again either.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar, cast
from weakref import WeakValueDictionary

from schedmate.model.wire import loads

if TYPE_CHECKING:
    from schedmate.model import Action, Advice

    Shared = TypeVar("Shared", Action, Advice)

_held: WeakValueDictionary[tuple[str, bytes], Action | Advice] = WeakValueDictionary()


def shared_record(kind: type[Shared], body: str) -> Shared:
    """What a row of the store says; the same object as long as anyone holds it."""
    digest = blake2b(body.encode(errors="surrogatepass"), digest_size=16).digest()
    key = kind.__name__, digest
    found = _held.get(key)
    if found is None:
        found = _held[key] = loads(kind, body)
    return cast("Shared", found)

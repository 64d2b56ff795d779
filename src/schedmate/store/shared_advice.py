"""Advice is kept in memory once, however many hold it: the pages, the decision engine, trackers."""

from __future__ import annotations

from hashlib import blake2b
from weakref import WeakValueDictionary

from schedmate.model import Advice
from schedmate.model.wire import loads

_held: WeakValueDictionary[bytes, Advice] = WeakValueDictionary()


def advice_in(body: str) -> Advice:
    """What a row of the store says; the same object as long as anyone holds it."""
    key = blake2b(body.encode(errors="surrogatepass"), digest_size=16).digest()
    found = _held.get(key)
    if found is None:
        found = _held[key] = loads(Advice, body)
    return found

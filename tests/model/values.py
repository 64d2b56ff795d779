"""Hypothesis strategies for any of our values, built from its own annotations."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union

from hypothesis import strategies as st

from schedmate.model import Spread

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)
TIMES = st.floats(min_value=0, max_value=1e9)
_SPREADS = st.lists(TIMES, min_size=3, max_size=3).map(lambda three: Spread(*sorted(three)))
_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    bool: st.booleans(),
    int: st.integers(min_value=-(2**53), max_value=2**53),
    float: FINITE,
    type(None): st.none(),
    Spread: _SPREADS,
}


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Draw values of a type, however it is nested."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return _composed(kind)


def _composed(kind: Any) -> st.SearchStrategy[Any]:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        return st.one_of(*[values(arg) for arg in sorted(args, key=_nothing_first)])
    if origin is tuple:
        return st.lists(values(args[0]), max_size=1).map(tuple)
    if origin is dict:
        return st.dictionaries(values(args[0]), values(args[1]), max_size=1)
    return _dataclasses(origin or kind, args)


def _dataclasses(kind: type[Any], args: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    bound = dict(zip(getattr(kind, "__parameters__", ()), args, strict=True))
    parts = {
        field.name: values(_substituted(hints[field.name], bound))
        for field in dataclasses.fields(kind)
    }
    return st.builds(kind, **parts)


def _substituted(hint: Any, bound: dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return bound[hint]
    free = () if isinstance(hint, type) else getattr(hint, "__parameters__", ())
    return hint[tuple(bound[each] for each in free)] if free else hint


def _nothing_first(kind: Any) -> bool:
    return kind is not type(None)

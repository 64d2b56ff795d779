"""The way to the solver: HiGHS as scipy ships it, loaded when a policy has something to solve."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from schedmate.model import BadInput
from schedmate.model.extras import needs

_STDOUT = 1


def optimizer() -> ModuleType:
    return _load("scipy.optimize")


def sparse() -> ModuleType:
    return _load("scipy.sparse")


@contextmanager
def quietly() -> Iterator[None]:
    """Whatever its options, HiGHS now and then prints a line of its own debugging from C; among the
    JSON of a result that must not be."""
    kept = os.dup(_STDOUT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDOUT)
        yield
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)
        os.close(nowhere)


def _load(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise BadInput(needs("this policy solves an optimisation and needs", "scipy")) from None

"""The way to the solver: HiGHS as scipy ships it, loaded when a policy has something to solve."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from schedmate.model import BadInput


def optimizer() -> ModuleType:
    return _load("scipy.optimize")


def sparse() -> ModuleType:
    return _load("scipy.sparse")


def _load(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise BadInput(
            "this policy solves an optimisation and needs scipy: pip install 'schedmate[sim]'"
        ) from None

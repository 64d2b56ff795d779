"""Names that a package offers without importing what defines them until they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: each name and the module that defines it."""

    def getattr_of_package(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(names[name]), name)
        setattr(sys.modules[package], name, value)  # asked once
        return value

    return getattr_of_package

"""What names and attributes may refer to besides values: modules, members, ranges, `super()`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedmate.advisor.interpret.python.values import LocalClass, Value


@dataclass(slots=True, eq=False)
class LocalModule:
    """A module or package of the job; interpreted when one of its names is first used."""

    name: str
    path: Path | None
    """Its file; None for a directory without `__init__.py`."""
    directory: Path | None
    """Where its submodules are, if it is a package."""
    scope: Any = None
    """The `Scope` of its names, once it is interpreted."""
    interpreted: bool = False
    depth: int = 0
    """How far it is from the entry point, by the first import that was seen."""


@dataclass(frozen=True, slots=True, eq=False)
class Deferred:
    """`from module import name`, not looked at yet."""

    module: LocalModule
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """An attribute of something that is not the job's own."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    start: Value
    stop: Value
    step: Value


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """`super()` in a method of `above`, for `instance`."""

    instance: Value
    above: LocalClass

"""Tables by dotted names, of which only those of packages that a job uses are loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class ByPackage(Mapping[str, T]):
    """`rows` are a module beside this one, its table there, and the packages that it speaks of;
    of two tables with the same name in them the later one counts."""

    def __init__(self, rows: Sequence[tuple[str, str, str]]) -> None:
        self._rows = rows
        self._packages = frozenset(name for *_, names in rows for name in names.split())
        self._of_package: dict[str, Mapping[str, T]] = {}

    def __getitem__(self, name: str) -> T:
        package = name.partition(".")[0]
        if package not in self._packages:
            raise KeyError(name)
        if package not in self._of_package:
            self._of_package[package] = {
                each: found
                for module, table, names in self._rows
                if package in names.split()
                for each, found in _table(module, table).items()
            }
        return self._of_package[package][name]

    def __iter__(self) -> Iterator[str]:
        return iter({name: 0 for module, table, _ in self._rows for name in _table(module, table)})

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _table(module: str, table: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(import_module(f"schedmate.advisor.options.{module}"), table)
    return found

"""`EPOCHS = 10` at the top of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from schedmate.advisor.literals import NotStated, stated_value
from schedmate.advisor.modules import Module
from schedmate.advisor.readers.base import Reading, Stated
from schedmate.model import Source


class ConstantsReader:
    name = "constants"

    def read(self, reading: Reading) -> Iterator[Stated]:
        for module in reading.modules:
            yield from _constants(module, "code", 0.9 if module.depth == 0 else 0.7)
        for module in reading.configs:
            yield from _constants(module, "config", 0.9)


def assigned(module: Module) -> dict[str, ast.expr]:
    """Names that the module sets exactly once, with what it sets them to."""
    values: dict[str, ast.expr] = {}
    repeated: set[str] = set()
    for name, value, _ in _assignments(module):
        if name in values:
            repeated.add(name)
        values[name] = value
    return {name: value for name, value in values.items() if name not in repeated}


def _assignments(module: Module) -> Iterator[tuple[str, ast.expr, ast.stmt]]:
    for statement in module.tree.body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        yield target.id, value, statement
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value, statement
            case _:
                pass


def _constants(module: Module, source: Source, confidence: float) -> Iterator[Stated]:
    once = assigned(module)
    for name, value, statement in _assignments(module):
        if name not in once:
            continue
        try:
            constant = stated_value(value, once)
        except NotStated:
            continue
        yield Stated(
            name=name,
            value=constant,
            source=source,
            evidence=(module.evidence(statement),),
            confidence=confidence,
            depth=module.depth,
        )

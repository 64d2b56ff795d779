"""Calls and tables in the code that end a run before its last epoch: time caps, early stopping."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from schedmate.advisor.literals import NotStated, stated_value
from schedmate.advisor.modules import Module
from schedmate.advisor.readers.base import Reading, Stated
from schedmate.advisor.readers.constants import assigned
from schedmate.advisor.vocabulary import field_of
from schedmate.model import Source

_STOPPER = re.compile(r"EarlyStop(?:ping|per)(?:Callback|Hook|Handler)?|early_stopping")
_ENDINGS = ("max_time_s", "early_stopping")
_OF_OTHERS = {"patience", "time_limit"}
"""A learning rate has patience too, and an episode of a game its own time limit."""


class EndingsReader:
    name = "endings"

    def read(self, reading: Reading) -> Iterator[Stated]:
        for module in reading.modules:
            yield from _endings(module, "code", 0.85 if module.depth == 0 else 0.7)
        for module in reading.configs:
            yield from _endings(module, "config", 0.85)


def _endings(module: Module, source: Source, confidence: float) -> Iterator[Stated]:
    names = assigned(module)
    for node in module.nodes():
        for name, value in _said(node):
            try:
                stated = stated_value(value, names)
            except NotStated:
                continue
            yield Stated(
                name=name,
                value=stated,
                source=source,
                evidence=(module.evidence(node if value is _YES else value),),
                confidence=confidence,
                depth=module.depth,
            )


_YES = ast.Constant(value=True)


def _said(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Call(func=func, keywords=keywords):
            callee = _callee(func)
            if _STOPPER.fullmatch(callee):
                yield "early_stopping", _YES
            pairs = [(word.arg, word.value) for word in keywords if word.arg]
            yield from (pair for pair in pairs if _is_ending(pair[0], callee))
            yield from _built_by_name(pairs)
        case ast.Dict(keys=keys, values=values):
            named = [
                (key.value, value)
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
            yield from (pair for pair in named if _is_ending(pair[0], ""))
            yield from _built_by_name(named)
        case _:
            pass


def _built_by_name(pairs: list[tuple[str, ast.expr]]) -> Iterator[tuple[str, ast.expr]]:
    """`dict(type="EarlyStoppingHook", …)`"""
    for name, value in pairs:
        if name == "type" and isinstance(value, ast.Constant):
            kind = str(value.value).rpartition(".")[2]
            if _STOPPER.fullmatch(kind):
                yield "early_stopping", _YES


def _is_ending(name: str, callee: str) -> bool:
    found = field_of(name)
    if found is None or found[0] not in _ENDINGS:
        return False
    return name not in _OF_OTHERS or (name == "time_limit" and callee == "fit")


def _callee(func: ast.expr) -> str:
    match func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""

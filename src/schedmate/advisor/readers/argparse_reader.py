"""argparse: what the code declares, overridden by what the command line gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from schedmate.advisor.literals import NotStated, stated_value
from schedmate.advisor.modules import Module
from schedmate.advisor.readers.base import UNSTATED, Reading, Stated
from schedmate.advisor.readers.constants import assigned
from schedmate.advisor.readers.options import Option, Takes, match
from schedmate.advisor.shell import Word

_STORES_NOTHING = {"help", "version", "append", "append_const", "extend", "count"}


class ArgparseReader:
    name = "argparse"

    def read(self, reading: Reading) -> Iterator[Stated]:
        options = [
            option for module in reading.modules for option in _declared(module, reading.arguments)
        ]
        given = match(options, reading.arguments)
        taken = {id(each.option) for each in given}
        for each in given:
            yield Stated(
                name=each.option.dest,
                value=each.value,
                source="cli",
                evidence=(*each.evidence, each.option.evidence),
                confidence=0.99,
            )
        yield from (_default(option) for option in options if id(option) not in taken)


def _default(option: Option) -> Stated:
    return Stated(
        name=option.dest,
        value=option.default,
        source="code",
        evidence=(option.evidence,),
        confidence=0.97 if option.depth == 0 else 0.9,
        depth=option.depth,
    )


def _declared(module: Module, arguments: tuple[Word, ...]) -> list[Option]:
    names = assigned(module)
    subparsers = _subparsers(module)
    chosen = {word.text for word in arguments}
    options: list[Option] = []
    for node in module.nodes():
        match node:
            case ast.Call(func=ast.Attribute(value=receiver, attr="add_argument")):
                command = subparsers.get(receiver.id) if isinstance(receiver, ast.Name) else None
                if command is None or command in chosen:
                    options += _option(node, module, names)
            case ast.Call(func=ast.Attribute(attr="set_defaults"), keywords=keywords):
                options = _with_defaults(options, keywords, module, names)
            case _:
                pass
    return options


def _subparsers(module: Module) -> dict[str, str]:
    """Variables that hold the parser of a sub-command, with its name."""
    found = {}
    for node in module.nodes():
        match node:
            case ast.Assign(
                targets=[ast.Name(id=variable)],
                value=ast.Call(
                    func=ast.Attribute(attr="add_parser"),
                    args=[ast.Constant(value=str() as command), *_],
                ),
            ):
                found[variable] = command
            case _:
                pass
    return found


def _option(call: ast.Call, module: Module, names: Mapping[str, ast.expr]) -> Iterator[Option]:
    flags = [
        part.value
        for part in call.args
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value
    ]
    if not flags or len(flags) != len(call.args):
        return
    settings = {word.arg: word.value for word in call.keywords if word.arg}
    action = _action(settings.get("action"))
    if action in _STORES_NOTHING:
        return
    dest = _stated(settings.get("dest"), names, None)
    yield Option(
        dest=dest if isinstance(dest, str) else _dest(flags),
        flags=tuple(flag for flag in flags if flag.startswith("-")),
        takes=_takes(action, settings.get("nargs")),
        default=_initial(action, settings, names),
        constant=_constant(action, settings, names),
        negatable=action == "BooleanOptionalAction",
        optional_value=_stated(settings.get("nargs"), names, None) in ("?", "*"),
        evidence=module.evidence(call),
        depth=module.depth,
    )


def _dest(flags: list[str]) -> str:
    long = [flag for flag in flags if flag.startswith("--")] or flags
    return long[0].lstrip("-").replace("-", "_")


def _action(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=str() as name):
            return name
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return "store"


def _takes(action: str, nargs: ast.expr | None) -> Takes:
    if action in ("store_true", "store_false", "store_const", "BooleanOptionalAction"):
        return "nothing"
    match nargs:
        case None | ast.Constant(value="?"):
            return "value"
    return "values"


def _initial(action: str, settings: Mapping[str, ast.expr], names: Mapping[str, ast.expr]) -> Any:
    implied = {"store_true": False, "store_false": True}.get(action)
    return _stated(settings.get("default"), names, implied)


def _constant(action: str, settings: Mapping[str, ast.expr], names: Mapping[str, ast.expr]) -> Any:
    implied = {"store_false": False}.get(action, True)
    return _stated(settings.get("const"), names, implied)


def _stated(node: ast.expr | None, names: Mapping[str, ast.expr], otherwise: Any) -> Any:
    if node is None:
        return otherwise
    try:
        return stated_value(node, names)
    except NotStated:
        return UNSTATED


def _with_defaults(
    options: list[Option],
    keywords: list[ast.keyword],
    module: Module,
    names: Mapping[str, ast.expr],
) -> list[Option]:
    """`parser.set_defaults(epochs=3)` beats what the declaration says."""
    changed = {word.arg: word.value for word in keywords if word.arg}
    return [
        replace(
            option,
            default=_stated(changed[option.dest], names, None),
            evidence=module.evidence(changed[option.dest]),
        )
        if option.dest in changed
        else option
        for option in options
    ]

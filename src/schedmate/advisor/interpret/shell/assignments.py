"""`A=b`, `A+=c`, `A=(x y)`, `A[1]=z`, and the words that declare."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedmate.advisor.interpret.shell.expansion import expand, words_of
from schedmate.advisor.interpret.shell.lexer import Token, lex
from schedmate.advisor.interpret.shell.machine import Machine
from schedmate.advisor.interpret.shell.spans import (
    Array,
    Value,
    fields,
    in_one,
    known,
    text_of,
    unknown,
)
from schedmate.advisor.interpret.shell.state import element_keys
from schedmate.advisor.interpret.shell.words import Place, Span, Spans

_ASSIGNMENT = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\[(?P<key>[^\]]{0,500})\])?(?P<adds>\+?)=", re.ASCII
)
_KEYED = re.compile(r"\[([^\]]{1,500})\]=")
_MAX_PIECES = 20_000
_MAX_ELEMENTS = 2000


def is_assignment(text: str) -> bool:
    return _ASSIGNMENT.match(text) is not None


def assign(machine: Machine, token: Token) -> str | None:
    """Do it; the name that now has another value."""
    found = _ASSIGNMENT.match(token.text)
    if found is None:
        return None
    name, at = found["name"], machine.place(token)
    value = _value(machine, token.text[found.end() :], at)
    before = machine.look_up(name, at)
    if found["key"] is not None and not isinstance(value, Array):
        value = _with_element(machine, before, found, value, at)
    elif found["adds"] and before is not None:
        value = _added(before, value)
    if not isinstance(value, Array) and len(value) > _MAX_PIECES:
        value = unknown(f"${name}", at)
    machine.assign(name, value)
    return name


def _value(machine: Machine, raw: str, at: Place) -> Value:
    if not (raw.startswith("(") and raw.endswith(")")):
        return in_one(expand(raw, at, machine))
    items: dict[str, Spans] = {}
    for token in lex(raw[1:-1])[:_MAX_ELEMENTS]:
        if token.kind != "word":
            continue
        place = (at[0], at[1] + token.line - 1)
        keyed = _KEYED.match(token.text)
        if keyed is not None:
            key = text_of(expand(keyed[1], place, machine))
            items[key] = tuple(expand(token.text[keyed.end() :], place, machine))
            continue
        for spans in words_of(token.text, place, machine):
            items[str(len(items))] = tuple(spans)
    return Array(items)


def _added(before: Value, value: Value) -> Value:
    if isinstance(value, Array):
        items = element_keys(before)
        for element in list(value.items.values())[: max(0, _MAX_ELEMENTS - len(items))]:
            items[str(len(items))] = element
        return Array(items)
    if isinstance(before, Array):
        first = {**before.items, "0": (*before.items.get("0", ()), *value)}
        return Array(first)
    return (*before, *value)


def _with_element(
    machine: Machine, before: Value | None, found: re.Match[str], value: Spans, at: Place
) -> Value:
    key = expand(found["key"], at, machine)
    if not known(key):
        return unknown(f"${found['name']}", at)
    items = element_keys(before)
    text = text_of(key)
    number = None if text.isdigit() else machine.number(text, at)
    place = text if number is None else text_of(number)
    items[place] = (*items.get(place, ()), *value) if found["adds"] else value
    return Array(items)


def declare(machine: Machine, tokens: Sequence[Token]) -> None:
    """`export`, `local`, `declare -A` and so on."""
    command, *rest = tokens
    options = "".join(token.text for token in rest if token.text.startswith("-"))
    exports = command.text == "export" or "x" in options
    for token in rest:
        if token.text.startswith(("-", "+")):
            continue
        if is_assignment(token.text):
            _keep(machine, _ASSIGNMENT.match(token.text), command.text)
            _exported(machine, assign(machine, token), exports=exports)
        elif token.text.isidentifier():
            _declared(machine, token, command.text, options)
            _exported(machine, token.text, exports=exports)
        else:
            _expanded(machine, token, exports=exports)


def _declared(machine: Machine, token: Token, command: str, options: str) -> None:
    if command == "local":
        _keep(machine, re.fullmatch(r"(?P<name>\w+)", token.text), command)
        machine.assign(token.text, ())
    elif command != "export" and ("A" in options or "a" in options):
        machine.state.values.setdefault(token.text, Array({}))


def _keep(machine: Machine, found: re.Match[str] | None, command: str) -> None:
    """A local variable gets its value from outside back when the function returns."""
    if command in ("local", "declare", "typeset") and machine.frames and found is not None:
        name = found["name"]
        machine.frames[-1].setdefault(name, machine.state.values.get(name))


def _exported(machine: Machine, name: str | None, *, exports: bool) -> None:
    if exports and name is not None:
        machine.export(name)


def _expanded(machine: Machine, token: Token, *, exports: bool) -> None:
    """`export $(cat .env | xargs)`"""
    at = machine.place(token)
    for spans in fields(expand(token.text, at, machine)):
        name, equals, _ = text_of(spans).partition("=")
        if equals and name.isidentifier() and known(spans):
            value = text_of(spans)[len(name) + 1 :]
            machine.assign(name, (Span(value, spans[0].at),))
            _exported(machine, name, exports=exports)

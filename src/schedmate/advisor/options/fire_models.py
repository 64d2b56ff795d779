"""`fire.Fire(f)`: the command line calls a function, a class's method or a dict's entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, LocalClass, LocalFunction, Table, Value
from schedmate.advisor.options.functions import arguments_for, call_with, part_of
from schedmate.advisor.options.given import Given, given
from schedmate.advisor.options.tables import state, table_of
from schedmate.advisor.options.undeclared import looks_like_flag

_MAX_COMMANDS = 5


def fire(call: Call, context: Context) -> Value | None:
    component = call.argument("component", 0)
    words = _words(call, context)
    if component is None:
        return Value(None)
    return run(component, words, context)


def _words(call: Call, context: Context) -> tuple[Given, ...]:
    """The command line, or the command that the code names instead."""
    command = call.argument("command", 1)
    if command is not None and isinstance(command.data, str):
        return tuple(Given(text, command.lines, command.source) for text in command.data.split())
    return given(context.arguments)


def run(component: Value, words: Sequence[Given], context: Context, depth: int = 0) -> Value:
    """A function is called; a class or a dict is asked for what the first free word names."""
    if isinstance(component.data, LocalFunction):
        return call_with(component, words, context)
    if depth > _MAX_COMMANDS:
        return component
    if isinstance(component.data, LocalClass):
        return _of_class(component.data, words, context, depth)
    table = table_of(component)
    if table is None or not words:
        return component
    return _of_table(table, words, context, depth)


def _of_table(table: Table, words: Sequence[Given], context: Context, depth: int) -> Value:
    chosen = part_of(table.parts, words[0])
    if chosen is None:
        return Value(table)
    return run(chosen, words[1:], context, depth + 1)


def _of_class(cls: LocalClass, words: Sequence[Given], context: Context, depth: int) -> Value:
    members = context.members(cls)
    methods = {name: each for name, each in members.items() if not name.startswith("_")}
    place = _place_of_method(methods, words)
    constructor = members.get("__init__")
    arguments = {}
    if constructor is not None and isinstance(constructor.data, LocalFunction):
        arguments = arguments_for(constructor.data, _for_constructor(words, place), context)
        for name, value in arguments.items():
            state(context, name, value)
    made = context.invoke(Value(cls, (cls.line,)), (), arguments)
    if place is None:
        return made
    method = part_of(methods, words[place])
    if method is None or not isinstance(method.data, LocalFunction):
        return made
    bound = replace(method, data=replace(method.data, bound_to=made))
    return run(bound, words[place + 1 :], context, depth + 1)


def _for_constructor(words: Sequence[Given], place: int | None) -> Sequence[Given]:
    """What stands in front of the method's name, else the flags behind it."""
    if place is None or place > 0:
        return words[:place]
    flags = [index for index, word in enumerate(words) if looks_like_flag(word.text)]
    return words[flags[0] :] if flags else ()


def _place_of_method(methods: dict[str, Value], words: Sequence[Given]) -> int | None:
    for index, word in enumerate(words):
        free = not looks_like_flag(word.text)
        if free and word.known and part_of(methods, word) is not None:
            return index
    return None


FIRE: dict[str, CallModel] = {"fire.Fire": fire, "fire.core.Fire": fire}

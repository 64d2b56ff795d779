"""Functions whose parameters are options: fire, tyro, typer, jsonargparse, `defopt`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import LocalClass, LocalFunction, Table, Value
from schedmate.advisor.options.given import Given
from schedmate.advisor.options.schema import instance, outline, settings_from
from schedmate.advisor.options.tables import merge, state, state_all, table_of
from schedmate.advisor.options.text import like
from schedmate.advisor.options.undeclared import looks_like_flag, underscored


def call_with(function: Value, words: Sequence[Given], context: Context, prefix: str = "") -> Value:
    """Follow a function with the arguments that a command line gives it."""
    if not isinstance(function.data, LocalFunction):
        return context.invoke(function)
    arguments = arguments_for(function.data, words, context)
    for name, value in arguments.items():
        table = table_of(value)
        if table is None:
            state(context, f"{prefix}{name}", value)
        else:
            state_all(context, table, f"{prefix}{name}.")
    return context.invoke(function, (), arguments)


def arguments_for(
    function: LocalFunction, words: Sequence[Given], context: Context
) -> dict[str, Value]:
    """What each parameter will be: words by name, then by place, then defaults."""
    parameters = parameters_of(function, context)
    shape = _shape(parameters, context)
    settings, others = settings_from(words, shape)
    arguments = _defaults(parameters, settings, context)
    _fill_by_place(arguments, parameters, _loose(words), settings)
    if function.node.args.kwarg is not None:
        arguments |= {underscored(pair.name): pair.value() for pair in others}
    return arguments


def parameters_of(
    function: LocalFunction, context: Context
) -> list[tuple[str, Value | None, Value | None]]:
    return [each for each in context.signature(function) if each[0] not in ("self", "cls")]


def _shape(parameters: Sequence[tuple[str, Value | None, Value | None]], context: Context) -> Table:
    shape = Table()
    for name, default, annotation in parameters:
        if annotation is not None and isinstance(annotation.data, LocalClass):
            shape.parts[name] = Value(outline([annotation], context))
        else:
            shape.parts[name] = default if default is not None else Value(None)
    return shape


def _defaults(
    parameters: Sequence[tuple[str, Value | None, Value | None]], settings: Table, context: Context
) -> dict[str, Value]:
    arguments: dict[str, Value] = {}
    for name, default, annotation in parameters:
        given = settings.parts.get(name)
        if annotation is not None and isinstance(annotation.data, LocalClass):
            own = Table()
            for layer in (table_of(default), table_of(given)):
                if layer is not None:
                    merge(own, layer)
            if annotation.data.fields:
                arguments[name] = Value(instance(annotation, own, context), annotation.lines)
                continue
        if given is not None:
            arguments[name] = given
        elif default is not None:
            arguments[name] = default
    return arguments


def _fill_by_place(
    arguments: dict[str, Value],
    parameters: Sequence[tuple[str, Value | None, Value | None]],
    loose: Sequence[Given],
    settings: Table,
) -> None:
    open_names = [(name, default) for name, default, _ in parameters if name not in settings.parts]
    for (name, default), word in zip(open_names, loose, strict=False):
        arguments[name] = like(default, word)


def _loose(words: Sequence[Given]) -> list[Given]:
    """Words in front of the first flag: those behind one may be its values."""
    loose: list[Given] = []
    for word in words:
        if looks_like_flag(word.text):
            break
        loose.append(word)
    return loose


def part_of(parts: Mapping[str, Value], word: Given) -> Value | None:
    """The sub-command that a word names."""
    wanted = underscored(word.text)
    return next((value for name, value in parts.items() if underscored(name) == wanted), None)

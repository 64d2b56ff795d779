"""Arguments of a call put to the parameters of one of the job's functions."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.engine import Arguments, Engine
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    LocalFunction,
    Sequence,
    Table,
    Value,
)


def bind_arguments(
    engine: Engine, function: LocalFunction, arguments: Arguments
) -> dict[str, Value]:
    """Every parameter gets a value: what is given, the default, or UNKNOWN."""
    spec = function.node.args
    names = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    given = list(arguments.positional)
    if function.bound_to is not None:
        given.insert(0, function.bound_to)
    bound = dict(zip(names, given, strict=False))
    left = {name: value for name, value in arguments.keywords.items() if name not in bound}
    wanted = {*names, *(part.arg for part in spec.kwonlyargs)}
    bound.update({name: value for name, value in left.items() if name in wanted})
    for name, default in parameter_defaults(function):
        if name not in bound:
            bound[name] = _missing(engine, function, default, complete=arguments.complete)
    if spec.vararg:
        rest = Sequence(given[len(names) :], arguments.complete, "tuple")
        bound[spec.vararg.arg] = Value(rest)
    if spec.kwarg:
        extra = {name: value for name, value in left.items() if name not in wanted}
        bound[spec.kwarg.arg] = Value(Table(extra, complete=arguments.complete))
    return bound


def as_given(function: LocalFunction, arguments: Arguments) -> dict[str, Value]:
    """Arguments by the names of their parameters, with those defaults that are plain constants."""
    spec = function.node.args
    names = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    names = names[1:] if function.bound_to is not None else names
    bound = dict(zip(names, arguments.positional, strict=False)) | dict(arguments.keywords)
    file = default_scope(function).file
    for name, default in parameter_defaults(function) if arguments.complete else ():
        if isinstance(default, ast.Constant) and name not in bound:
            bound[name] = Value(default.value, (file.line(default),))
    return bound


def _missing(
    engine: Engine, function: LocalFunction, default: ast.expr | None, *, complete: bool
) -> Value:
    if default is None or not complete:
        return UNKNOWN
    return engine.evaluate(default, default_scope(function))


def default_scope(function: LocalFunction) -> Scope:
    """Defaults are evaluated where the function is defined."""
    scope: Scope = function.home
    return scope


def parameter_defaults(function: LocalFunction) -> list[tuple[str, ast.expr | None]]:
    spec = function.node.args
    positional = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    bare = len(positional) - len(spec.defaults)
    pairs: list[tuple[str, ast.expr | None]] = [(name, None) for name in positional[:bare]]
    pairs += zip(positional[bare:], spec.defaults, strict=True)
    pairs += zip((part.arg for part in spec.kwonlyargs), spec.kw_defaults, strict=True)
    return pairs

"""sacred: functions whose names are settings, and `with a=1` on the command line."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LocalFunction,
    Partial,
    Table,
    Value,
)
from schedmate.advisor.options.functions import parameters_of
from schedmate.advisor.options.given import Given, given
from schedmate.advisor.options.omegaconf_models import from_words
from schedmate.advisor.options.tables import HIDDEN, merge, state_all, table_of
from schedmate.advisor.options.text import literal

_KINDS = ("sacred.Experiment", "sacred.experiment.Experiment", "sacred.Ingredient")
_SETTINGS = f"{HIDDEN}settings>"
_DECORATORS = ("config", "named_config", "main", "automain", "capture", "command")


def experiment(call: Call, _: Context) -> Value:
    """Its decorators stand without a call (`@ex.config`), so they are parts of it."""
    table = Table({_SETTINGS: Value(Table())}, call.callee, complete=False)
    made = Value(table, (call.line,))
    for name in _DECORATORS:
        dotted = Value(Dotted(f"{call.callee}.<{name}>"))
        table.parts[name] = Value(Partial(dotted, (made,), {}), (call.line,))
    return made


def _settings(owner: Value) -> Table:
    table = table_of(owner)
    found = table_of(table.parts.get(_SETTINGS)) if table is not None else None
    return Table() if found is None else found


def config(call: Call, _: Context) -> Value:
    """`@ex.config`: the local names of the function are the settings."""
    owner, function = call.positional[:2]
    if isinstance(function.data, LocalFunction):
        merge(_settings(owner), _constants(function.data))
    return function


def _constants(function: LocalFunction) -> Table:
    """What the function's own statements say outright."""
    table = Table(complete=False)
    body = function.node.body if isinstance(function.node, ast.FunctionDef) else []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if isinstance(
                function.home, Scope
            ):
                line = function.home.file.line(value)
                table.parts[name] = literal(Given(ast.unparse(value), (line,), "code"))
            case _:
                pass
    return table


def add_config(call: Call, context: Context) -> Value:
    if call.receiver is not None:
        settings = _settings(call.receiver)
        settings.parts |= call.keywords
        for value in call.positional:
            named = isinstance(value.data, str)
            table = table_of(context.read_config(value.data) if named else value)
            merge(settings, table if table is not None else Table(complete=False))
    return Value(None)


def main(call: Call, context: Context) -> Value:
    """`@ex.automain`: the settings, with those of the command line, fill its parameters."""
    owner, function = call.positional[:2]
    settings = _settings(owner)
    words = given(context.arguments)
    texts = [word.text for word in words]
    if "with" in texts:
        merge(settings, from_words([w for w in words[texts.index("with") + 1 :] if "=" in w.text]))
    state_all(context, settings)
    if call.callee.endswith("<automain>") and isinstance(function.data, LocalFunction):
        names = [name for name, _, _ in parameters_of(function.data, context)]
        given_parts = {name: settings.parts[name] for name in names if name in settings.parts}
        context.invoke(function, (), given_parts)
    return function


def decorated(call: Call, _: Context) -> Value:
    return call.positional[1]


SACRED: dict[str, CallModel] = {
    **dict.fromkeys(_KINDS, experiment),
    **{f"{kind}.add_config": add_config for kind in _KINDS},
    **{f"{kind}.<config>": config for kind in _KINDS},
    **{f"{kind}.<main>": main for kind in _KINDS},
    **{f"{kind}.<automain>": main for kind in _KINDS},
    **{f"{kind}.<named_config>": decorated for kind in _KINDS},
    **{f"{kind}.<capture>": decorated for kind in _KINDS},
    **{f"{kind}.<command>": decorated for kind in _KINDS},
}

"""typer: a function's signature is its command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LibraryObject,
    LocalFunction,
    Partial,
    Table,
    Value,
)
from schedmate.advisor.interpret.python.values import Sequence as Items
from schedmate.advisor.options.argparse_namespace import Parsing
from schedmate.advisor.options.argparse_parser import Declared, Parser
from schedmate.advisor.options.click_models import command_name
from schedmate.advisor.options.conversion import name_of
from schedmate.advisor.options.given import Given, given
from schedmate.advisor.options.tables import HIDDEN, table_of
from schedmate.advisor.options.undeclared import looks_like_flag, underscored

_APP = "typer.Typer"
_REGISTER = "typer.Typer.<register>"
_COMMANDS = f"{HIDDEN}commands>"
_NUMBERS = {bool: "strtobool", int: "int", float: "float"}
_MAX_APPS = 6
_Parameter = tuple[str, Value | None, Value | None]


def run(call: Call, context: Context) -> Value | None:
    """`typer.run(main)`."""
    function = call.argument("function", 0)
    if function is None or not isinstance(function.data, LocalFunction):
        return None
    return _interpret(function.data, given(context.arguments), context)


def app(call: Call, context: Context) -> Value:
    """`typer.Typer()` makes one; `app()` runs the command that the words name."""
    table = table_of(call.receiver)
    if table is None:
        return Value(Table({_COMMANDS: Value(Table())}, _APP, complete=False), (call.line,))
    return _run_app(table, given(context.arguments), context, 0) or Value(None)


def command(call: Call, _: Context) -> Value | None:
    """`@app.command()`: what it decorates is noted by `register`."""
    if call.receiver is None:
        return None
    marker = Value(LibraryObject(call), (call.line,))
    return Value(Partial(Value(Dotted(_REGISTER)), (call.receiver, marker), {}), (call.line,))


def register(call: Call, _: Context) -> Value | None:
    owner, marker, function = call.positional[:3]
    table = table_of(owner)
    commands = table_of(table.parts.get(_COMMANDS)) if table is not None else None
    if commands is None or not isinstance(function.data, LocalFunction):
        return function
    kind = marker.data.call if isinstance(marker.data, LibraryObject) else call
    name = "" if kind.callee.endswith("callback") else command_name(function.data, kind)
    commands.parts[name] = function
    return function


def add_app(call: Call, _: Context) -> Value | None:
    """`app.add_typer(other, name="train")`."""
    table, name = table_of(call.receiver), call.keywords.get("name")
    commands = table_of(table.parts.get(_COMMANDS)) if table is not None else None
    other = call.argument("typer_instance", 0)
    if commands is not None and other is not None and name is not None:
        commands.parts[str(name.data)] = other
    return Value(None)


def _run_app(table: Table, words: Sequence[Given], context: Context, depth: int) -> Value | None:
    commands = table_of(table.parts.get(_COMMANDS))
    if commands is None or depth > _MAX_APPS:
        return None
    named = {name: value for name, value in commands.parts.items() if name}
    place = _place_of(named, words)
    if "" in commands.parts and isinstance(commands.parts[""].data, LocalFunction):
        _interpret(commands.parts[""].data, words[:place], context)
    if place is None:
        only = next(iter(named.values())) if len(named) == 1 else None
        return _enter(only, words, context, depth)
    return _enter(named[words[place].text], words[place + 1 :], context, depth)


def _enter(
    chosen: Value | None, words: Sequence[Given], context: Context, depth: int
) -> Value | None:
    if chosen is not None and isinstance(chosen.data, LocalFunction):
        return _interpret(chosen.data, words, context)
    below = table_of(chosen)
    return None if below is None else _run_app(below, words, context, depth + 1)


def _place_of(commands: Mapping[str, Value], words: Sequence[Given]) -> int | None:
    for index, word in enumerate(words):
        if not looks_like_flag(word.text) and word.text in commands:
            return index
    return None


def _interpret(function: LocalFunction, words: Sequence[Given], context: Context) -> Value:
    parser = Parser()
    for parameter in context.signature(function):
        parser.add(_declared(parameter, words, function))
    parsing = Parsing(context, Table())
    parsing.run(parser, words)
    parsing.take_undeclared()
    parsing.state()
    return context.invoke(Value(function, (function.line,)), (), dict(parsing.table.parts))


def _declared(parameter: _Parameter, words: Sequence[Given], function: LocalFunction) -> Declared:
    name, default, annotation = parameter
    made = _declaration(default) or _declaration(annotation)
    if made is not None and made.callee.endswith(("Option", "Argument")) and default is not None:
        default = (
            made.argument("default", 0) if isinstance(default.data, LibraryObject) else default
        )
    long = f"--{name.replace('_', '-')}"
    names = [long, *_own_flags(made)] if not _own_flags(made) else _own_flags(made)
    is_option = _is_option(made, default, names, words)
    boolean = default is not None and isinstance(default.data, bool)
    negative = tuple(f"--no-{flag[2:]}" for flag in names if flag.startswith("--"))
    return Declared(
        dest=name,
        flags=(*names, *(negative if boolean else ())) if is_option else (),
        negative=negative if boolean else (),
        action="boolean" if boolean else "store",
        nargs=None if is_option or default is None else "?",
        type=_type(default, annotation),
        default=default,
        lines=(function.line,),
    )


def _declaration(value: Value | None) -> Call | None:
    """`typer.Option(…)`, as a default or inside `Annotated`."""
    if value is None:
        return None
    if isinstance(value.data, Items):
        found = (_declaration(item) for item in value.data.items)
        return next((each for each in found if each is not None), None)
    is_made = isinstance(value.data, LibraryObject) and value.data.kind.endswith(
        ("Option", "Argument")
    )
    return value.data.call if is_made else None


def _own_flags(made: Call | None) -> list[str]:
    texts = [each.data for each in made.positional] if made is not None else []
    flags = [text for text in texts if isinstance(text, str) and text.startswith("-")]
    return [part for flag in flags for part in flag.split("/")[:1]]


def _is_option(
    made: Call | None, default: Value | None, names: Sequence[str], words: Sequence[Given]
) -> bool:
    if made is not None:
        return made.callee.endswith("Option")
    on_command_line = {underscored(word.text.partition("=")[0]) for word in words}
    return default is not None or any(underscored(name) in on_command_line for name in names)


def _type(default: Value | None, annotation: Value | None) -> Value | None:
    if annotation is not None and isinstance(annotation.data, Items):
        annotation = next(iter(annotation.data.items), None)
    named = name_of(annotation)
    if named in ("int", "float", "str", "bool"):
        return Value(Dotted("strtobool" if named == "bool" else named))
    kind = _NUMBERS.get(type(default.data)) if default is not None else None
    return None if kind is None else Value(Dotted(kind))


TYPER: dict[str, CallModel] = {
    "typer.run": run,
    _APP: app,
    f"{_APP}.__call__": app,
    f"{_APP}.command": command,
    f"{_APP}.callback": command,
    f"{_APP}.add_typer": add_app,
    _REGISTER: register,
}

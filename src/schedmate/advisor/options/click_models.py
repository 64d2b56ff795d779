"""click: `@click.command()`, `@click.option(…)`, groups and their commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from schedmate.advisor.interpret.python.context import Context, Wrapper
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LibraryObject,
    LocalFunction,
    Table,
    Value,
)
from schedmate.advisor.interpret.python.values import Sequence as Items
from schedmate.advisor.options.argparse_namespace import Parsing
from schedmate.advisor.options.argparse_parser import Declared, Parser
from schedmate.advisor.options.given import Given, given, given_word
from schedmate.advisor.options.neighbours import decorator_name, neighbours
from schedmate.advisor.options.undeclared import looks_like_flag, underscored

_NUMBERS = {"INT": "int", "IntRange": "int", "FLOAT": "float", "FloatRange": "float"}
_MAX_GROUPS = 6


def command(function: LocalFunction, _: Value, context: Context) -> Value | None:
    return run(function, given(context.arguments), context)


def run(function: LocalFunction, words: Sequence[Given], context: Context) -> Value:
    """Follow the function with the values that its options will have."""
    parsing = _parsed(function, words, context)
    parsing.take_undeclared()
    parsing.state()
    return _interpret(function, parsing.table, context)


def _parsed(function: LocalFunction, words: Sequence[Given], context: Context) -> Parsing:
    parser = Parser()
    for call in reversed(_declarations(function)):
        parser.add(_declared(call))
    parsing = Parsing(context, Table(kind="dict"))
    parsing.run(parser, words)
    _from_environment(function, parsing, context)
    return parsing


def _interpret(function: LocalFunction, table: Table, context: Context) -> Value:
    plain = replace(function, decorators=())
    return context.invoke(Value(plain, (function.line,)), (), dict(table.parts))


def group(function: LocalFunction, _: Value, context: Context) -> Value | None:
    """The group's own options, then the command that the first free word names."""
    return _run_group(function, given(context.arguments), context, 0)


def _run_group(
    function: LocalFunction, words: Sequence[Given], context: Context, depth: int
) -> Value:
    commands = commands_of(function)
    place = _place_of(commands, words)
    parsing = _parsed(function, words[:place], context)
    parsing.state()
    result = _interpret(function, parsing.table, context)
    if place is None or depth > _MAX_GROUPS:
        return result
    chosen = commands[words[place].text]
    if any(_last(each) == "group" for each in chosen.decorators):
        return _run_group(chosen, words[place + 1 :], context, depth + 1)
    return run(chosen, words[place + 1 :], context)


def commands_of(owner: LocalFunction) -> dict[str, LocalFunction]:
    """`@cli.command()` functions beside the group, by the word that calls them."""
    found: dict[str, LocalFunction] = {}
    for function in neighbours(owner):
        for decorator in function.decorators:
            data = decorator.data
            receiver = data.call.receiver if isinstance(data, LibraryObject) else None
            named = receiver.data if receiver is not None else None
            if isinstance(named, LocalFunction) and named.node is owner.node:
                found[command_name(function, data.call)] = function
    return found


def command_name(function: LocalFunction, call: Call) -> str:
    given_name = call.argument("name", 0)
    if given_name is not None and isinstance(given_name.data, str):
        return given_name.data
    return function.name.lower().replace("_", "-").removesuffix("-command")


def _place_of(commands: Mapping[str, LocalFunction], words: Sequence[Given]) -> int | None:
    for index, word in enumerate(words):
        if not looks_like_flag(word.text) and word.text in commands:
            return index
    return None


def _last(decorator: Value) -> str:
    return decorator_name(decorator).rpartition(".")[2]


def _declarations(function: LocalFunction) -> list[Call]:
    return [
        each.data.call
        for each in function.decorators
        if isinstance(each.data, LibraryObject) and _last(each) in ("option", "argument")
    ]


def _declared(call: Call) -> Declared:
    settings = call.keywords
    names = [each.data for each in call.positional if isinstance(each.data, str)]
    flags, negative = _flags(names)
    action = _action(settings, negative=bool(negative))
    nargs = settings.get("nargs")
    return Declared(
        dest=_dest(names),
        flags=(*flags, *negative) if call.callee.endswith("option") else (),
        negative=tuple(negative),
        action=action,
        nargs=_nargs(nargs, settings, call),
        type=_type(settings),
        default=_default(settings, action),
        const=settings.get("flag_value"),
        lines=(call.line,),
        depth=call.depth,
    )


def _flags(names: list[str]) -> tuple[list[str], list[str]]:
    """`--amp/--no-amp` is two flags for one thing."""
    flags, negative = [], []
    for name in names:
        if name.startswith("-"):
            on, _, off = name.partition("/")
            flags.append(on.strip())
            negative += [off.strip()] if off else []
    return flags, negative


def _dest(names: list[str]) -> str:
    plain = [name for name in names if not name.startswith("-")]
    if plain:
        return underscored(plain[0]).lower()
    positive = _flags(names)[0]
    long = [name for name in positive if name.startswith("--")] or positive
    return underscored(long[0].lstrip("-")).lower() if long else ""


def _action(settings: Mapping[str, Value], *, negative: bool) -> str:
    def is_set(name: str) -> bool:
        value = settings.get(name)
        return value is not None and value.data is True

    if negative:
        return "boolean"
    if is_set("count"):
        return "count"
    if "flag_value" in settings:
        return "store_const"
    if is_set("is_flag"):
        return "store_true"
    return "append" if is_set("multiple") else "store"


def _nargs(nargs: Value | None, settings: Mapping[str, Value], call: Call) -> str | int | None:
    if nargs is not None and isinstance(nargs.data, int):
        return "*" if nargs.data < 0 else nargs.data if nargs.data > 1 else None
    required = settings.get("required")
    optional = "default" in settings or (required is not None and required.data is False)
    return "?" if call.callee.endswith("argument") and optional else None


def _type(settings: Mapping[str, Value]) -> Value | None:
    """As declared, else that of the default."""
    kind, default = settings.get("type"), settings.get("default")
    if kind is None:
        return None if default is None else _kind_of(default)
    name = decorator_name(kind) or (kind.data.name if isinstance(kind.data, Dotted) else "")
    number = _NUMBERS.get(name.rpartition(".")[2])
    return kind if number is None else Value(Dotted(number))


def _kind_of(default: Value) -> Value | None:
    data = default.data.items[0].data if _is_filled(default) else default.data
    kinds = {bool: "strtobool", int: "int", float: "float"}
    name = kinds.get(type(data))
    return None if name is None else Value(Dotted(name))


def _is_filled(value: Value) -> bool:
    return isinstance(value.data, Items) and bool(value.data.items)


def _default(settings: Mapping[str, Value], action: str) -> Value | None:
    default = settings.get("default")
    if default is None and action == "boolean":
        return Value(False)
    return default


def _from_environment(function: LocalFunction, parsing: Parsing, context: Context) -> None:
    for call in _declarations(function):
        variable = call.keywords.get("envvar")
        dest = _declared(call).dest
        current = parsing.table.parts.get(dest)
        named = variable.data if variable is not None else None
        word = context.environment.get(named) if isinstance(named, str) else None
        overridable = current is None or current.source == "code"
        if word is not None and overridable:
            environment = Parsing(context, Table())
            declared = replace(_declared(call), flags=("--x",))
            environment.run(Parser([declared]), (Given("--x"), given_word(word)))
            parsing.table.parts[dest] = environment.table.parts[dest]


CLICK_WRAPPERS: dict[str, Wrapper] = {
    "click.command": command,
    "click.group": group,
    "rich_click.command": command,
    "rich_click.group": group,
    "asyncclick.command": command,
}

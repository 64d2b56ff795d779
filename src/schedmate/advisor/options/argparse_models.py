"""argparse and its kin: `add_argument` … `parse_args`."""

from __future__ import annotations

from collections.abc import Mapping

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, Sequence, Table, Value
from schedmate.advisor.options.argparse_namespace import Parsing
from schedmate.advisor.options.argparse_parser import Declared, Parser, holder, parser_of
from schedmate.advisor.options.conversion import name_of
from schedmate.advisor.options.given import Given, as_list, given, given_list
from schedmate.advisor.options.tables import table_of

_NAMESPACE = "argparse.Namespace"
_GROUP = "argparse._ArgumentGroup"
_SUBPARSERS = "argparse._SubParsersAction"
_PARSERS = (
    "argparse.ArgumentParser",
    "configargparse.ArgParser",
    "configargparse.ArgumentParser",
    "configargparse.ConfigArgParser",
    "jsonargparse.ArgumentParser",
    "argparse_dataclass.ArgumentParser",
    "rich_argparse.ArgumentParser",
)
_ACTIONS = {
    "store",
    "store_true",
    "store_false",
    "store_const",
    "append",
    "append_const",
    "extend",
    "count",
    "help",
    "version",
}


def make_parser(call: Call, _: Context) -> Value:
    """Also `super().__init__(…)` of a job's own parser class, which is the receiver then."""
    own = parser_of(call.receiver)
    parser = Parser() if own is None else own
    _set_up(parser, call)
    return call.receiver if own is not None and call.receiver else holder(parser, call)


def _set_up(parser: Parser, call: Call) -> None:
    for parent in _items(call.keywords.get("parents")):
        inherited = parser_of(parent)
        if inherited is not None:
            parser.inherit(inherited)
    chars = call.keywords.get("fromfile_prefix_chars")
    if chars is not None and isinstance(chars.data, str):
        parser.file_prefix = chars.data
    parser.config_files = tuple(_items(call.keywords.get("default_config_files")))


def add_argument(call: Call, _: Context) -> Value | None:
    parser = parser_of(call.receiver)
    if parser is None:
        return None
    names = [each.data for each in call.positional if isinstance(each.data, str)]
    if len(names) != len(call.positional) or not (names or "dest" in call.keywords):
        parser.open = True
        return None
    parser.add(declaration(names, call))
    return None


def declaration(names: list[str], call: Call) -> Declared:
    settings = call.keywords
    flags = tuple(name for name in names if name.startswith("-"))
    action = _action(settings)
    negative = tuple(f"--no-{flag[2:]}" for flag in flags if flag.startswith("--"))
    if action != "boolean":
        negative = ()
    dest = settings.get("dest")
    nargs = settings.get("nargs")
    return Declared(
        dest=dest.data if dest is not None and isinstance(dest.data, str) else _dest(names),
        flags=(*flags, *negative),
        negative=negative,
        action=action,
        nargs="..." if name_of(nargs).endswith("REMAINDER") else getattr(nargs, "data", None),
        type=settings.get("type"),
        default=settings.get("default"),
        const=settings.get("const"),
        lines=(call.line,),
        depth=call.depth,
    )


def _action(settings: Mapping[str, Value]) -> str:
    is_config = settings.get("is_config_file") or settings.get("is_config_file_arg")
    if is_config is not None and is_config.data is True:
        return "config"
    action = settings.get("action")
    if action is None:
        return "store"
    if isinstance(action.data, str):
        return action.data if action.data in _ACTIONS else "custom"
    name = name_of(action).rpartition(".")[2]
    if name == "ActionConfigFile":
        return "config"
    return "boolean" if name == "BooleanOptionalAction" else "custom"


def _dest(names: list[str]) -> str:
    long = [name for name in names if name.startswith("--")] or names
    first = long[0] if long else ""
    return first.lstrip("-").replace("-", "_") if first.startswith("-") else first


def add_group(call: Call, _: Context) -> Value | None:
    parser = parser_of(call.receiver)
    return None if parser is None else holder(parser, call, _GROUP)


def add_subparsers(call: Call, _: Context) -> Value | None:
    parser = parser_of(call.receiver)
    if parser is None:
        return None
    dest = call.keywords.get("dest")
    parser.command_dest = dest.data if dest is not None and isinstance(dest.data, str) else None
    return holder(parser, call, _SUBPARSERS)


def add_parser(call: Call, _: Context) -> Value | None:
    owner = parser_of(call.receiver)
    name = call.argument("name", 0)
    if owner is None or name is None:
        return None
    parser = Parser()
    _set_up(parser, call)
    for each in (name, *_items(call.keywords.get("aliases"))):
        if isinstance(each.data, str):
            owner.commands[each.data] = parser
    return holder(parser, call)


def set_defaults(call: Call, _: Context) -> Value | None:
    parser = parser_of(call.receiver)
    for name, value in call.keywords.items():
        if parser is not None:
            parser.set_default(name, value)
    for table in (table_of(each) for each in call.positional):
        for name, value in (table.parts if table is not None else {}).items():
            if parser is not None:
                parser.set_default(name, value)
    return Value(None)


def get_default(call: Call, _: Context) -> Value | None:
    parser, name = parser_of(call.receiver), call.argument("dest", 0)
    if parser is None or name is None or not isinstance(name.data, str):
        return None
    return parser.default(name.data) or Value(None, (call.line,))


def parse_args(call: Call, context: Context) -> Value | None:
    parsing = _parse(call, context)
    if parsing is None:
        return None
    parsing.take_undeclared()
    parsing.state()
    parsing.nest()
    return Value(parsing.table, (call.line,))


def parse_known_args(call: Call, context: Context) -> Value | None:
    """Words that fit nothing are left for others, unless a library adds options out of sight."""
    parsing, parser = _parse(call, context), parser_of(call.receiver)
    if parsing is None:
        return None
    if parser is not None and parser.open:
        parsing.take_undeclared()
    parsing.state()
    return Value(Sequence([Value(parsing.table, (call.line,)), as_list(parsing.extras)]))


def _parse(call: Call, context: Context) -> Parsing | None:
    parser = parser_of(call.receiver)
    if parser is None:
        return None
    given_table = table_of(call.argument("namespace", 1))
    table = given_table if given_table is not None else Table(kind=_NAMESPACE)
    table.complete = table.complete and not parser.open
    parsing = Parsing(context, table)
    parsing.run(parser, words_for(call.argument("args", 0), context))
    return parsing


def words_for(given_words: Value | None, context: Context) -> tuple[Given, ...]:
    """The words a parser is handed; the command line where it is handed none."""
    if given_words is None or given_words.data is None:
        return given(context.arguments)
    listed = given_list(given_words)
    return given(context.arguments) if listed is None else listed


def namespace(call: Call, _: Context) -> Value:
    return Value(Table(dict(call.keywords), _NAMESPACE), (call.line,))


def opened(call: Call, _: Context) -> Value | None:
    """A library adds its own options to a parser, and hands it back."""
    candidates = (*call.positional, *call.keywords.values())
    for value in candidates:
        if isinstance(value.data, Table):
            parser = parser_of(value)
            if parser is not None:
                parser.open = True
                return value
    return None


def _items(value: Value | None) -> list[Value]:
    return list(value.data.items) if value is not None and isinstance(value.data, Sequence) else []


METHODS: dict[str, CallModel] = {
    "add_argument": add_argument,
    "add": add_argument,
    "add_arg": add_argument,
    "add_argument_group": add_group,
    "add_mutually_exclusive_group": add_group,
    "add_subparsers": add_subparsers,
    "add_parser": add_parser,
    "set_defaults": set_defaults,
    "get_default": get_default,
    "parse_args": parse_args,
    "parse_known_args": parse_known_args,
    "parse_intermixed_args": parse_args,
    "parse_known_intermixed_args": parse_known_args,
}
_OPENING = (
    "pytorch_lightning.Trainer.add_argparse_args",
    "pytorch_lightning.trainer.Trainer.add_argparse_args",
    "lightning.Trainer.add_argparse_args",
    "lightning.pytorch.Trainer.add_argparse_args",
    "deepspeed.add_config_arguments",
    "deepspeed.add_tuning_arguments",
    "colossalai.get_default_parser",
    "composer.Trainer.add_argparse_args",
    "transformers.add_generic_args",
)

ARGPARSE: dict[str, CallModel] = {
    **dict.fromkeys(_PARSERS, make_parser),
    **{
        f"{kind}.{name}": model
        for kind in (*_PARSERS, _GROUP, _SUBPARSERS)
        for name, model in METHODS.items()
    },
    **dict.fromkeys(_OPENING, opened),
    _NAMESPACE: namespace,
}

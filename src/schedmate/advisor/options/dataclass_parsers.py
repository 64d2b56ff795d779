"""Libraries that make a command line of a class: tyro, simple-parsing, draccus, pyrallis, …"""

from __future__ import annotations

from schedmate.advisor.interpret.python.context import CallModel, Context, Wrapper
from schedmate.advisor.interpret.python.values import Call, LocalClass, LocalFunction, Table, Value
from schedmate.advisor.options.argparse_models import METHODS as ARGPARSE_METHODS
from schedmate.advisor.options.argparse_models import parse_args, words_for
from schedmate.advisor.options.argparse_parser import Parser, holder, parser_of
from schedmate.advisor.options.conversion import name_of
from schedmate.advisor.options.functions import call_with
from schedmate.advisor.options.given import Given
from schedmate.advisor.options.schema import instance, outline, settings_from
from schedmate.advisor.options.tables import HIDDEN, merge, nested, state_all, table_of
from schedmate.advisor.options.undeclared import underscored

_ADDED = f"{HIDDEN}added>"
_CONFIG_FLAGS = ("config_path", "config")


def tyro_cli(call: Call, context: Context) -> Value | None:
    """`tyro.cli(Config)` makes an instance, `tyro.cli(main)` calls the function."""
    target = call.argument("f", 0)
    words = words_for(call.keywords.get("args"), context)
    if target is None:
        return None
    if isinstance(target.data, LocalFunction):
        return call_with(target, words, context)
    return _made(target, words, context, call, start=table_of(call.keywords.get("default")))


def _made(
    cls: Value,
    words: tuple[Given, ...],
    context: Context,
    call: Call,
    *,
    start: Table | None = None,
    flat: bool = False,
) -> Value:
    shape = outline([cls], context)
    settings = Table()
    if start is not None:
        merge(shape, start)
        merge(settings, start)
    given, others = settings_from(words, shape, flat=flat)
    merge(settings, given)
    if not isinstance(cls.data, LocalClass) or flat is False:
        merge(settings, nested({underscored(pair.name): pair.value() for pair in others}))
    table = instance(cls, settings, context)
    state_all(context, table, depth=call.depth)
    return Value(table, (call.line,))


def config_file_parse(call: Call, context: Context) -> Value | None:
    """draccus, pyrallis, simple_parsing: a class, a file that `--config_path` names, the words."""
    cls = call.argument("config_class", 0)
    if cls is None:
        return None
    words = words_for(call.keywords.get("args"), context)
    named = call.argument("config_path", 1)
    start = _config(words, named, context)
    return _made(cls, words, context, call, start=start, flat=call.callee.startswith("simple_"))


def _config(words: tuple[Given, ...], named: Value | None, context: Context) -> Table | None:
    _, others = settings_from(words, Table())
    paths = [
        pair.values[0].text
        for pair in others
        if underscored(pair.name) in _CONFIG_FLAGS and pair.values and pair.values[0].known
    ]
    if named is not None and isinstance(named.data, str):
        paths.append(named.data)
    reads = (table_of(context.read_config(path)) for path in paths)
    return next((read for read in reads if read is not None), None)


def wrapped(function: LocalFunction, decorator: Value, context: Context) -> Value | None:
    """`@draccus.wrap()` on `def main(cfg: TrainConfig)`."""
    parameters = [each for each in context.signature(function) if each[2] is not None]
    cls = parameters[0][2] if parameters else None
    if cls is None:
        return None
    call = Call(callee=name_of(decorator), positional=(cls,), line=function.line)
    made = config_file_parse(call, context)
    return None if made is None else context.invoke(Value(function, (function.line,)), [made])


def simple_parser(call: Call, _: Context) -> Value:
    return holder(Parser(), call, "simple_parsing.ArgumentParser")


def add_arguments(call: Call, _: Context) -> Value | None:
    """`parser.add_arguments(Config, dest="config")`."""
    cls, dest = call.argument("dataclass", 0), call.argument("dest", 1)
    parser, table = parser_of(call.receiver), table_of(call.receiver)
    if cls is None or dest is None or parser is None or table is None:
        return None
    added = table_of(table.parts.setdefault(_ADDED, Value(Table())))
    if added is not None and isinstance(dest.data, str):
        added.parts[dest.data] = cls
    return None


def simple_parse_args(call: Call, context: Context) -> Value | None:
    table = table_of(call.receiver)
    added = table_of(table.parts.get(_ADDED)) if table is not None else None
    namespace = parse_args(call, context)
    filled = table_of(namespace)
    words = words_for(call.argument("args", 0), context)
    for dest, cls in (added.parts if added is not None else {}).items():
        made = _made(cls, words, context, call, flat=True)
        if filled is not None:
            filled.parts[dest] = made
    return namespace


_SIMPLE: dict[str, CallModel] = {
    **ARGPARSE_METHODS,
    "add_arguments": add_arguments,
    "parse_args": simple_parse_args,
}
DATACLASS_PARSERS: dict[str, CallModel] = {
    "tyro.cli": tyro_cli,
    "tyro.extras.cli": tyro_cli,
    "draccus.parse": config_file_parse,
    "pyrallis.parse": config_file_parse,
    "simple_parsing.parse": config_file_parse,
    "chanfig.parse": config_file_parse,
    "simple_parsing.ArgumentParser": simple_parser,
    **{f"simple_parsing.ArgumentParser.{name}": model for name, model in _SIMPLE.items()},
}
DATACLASS_WRAPPERS: dict[str, Wrapper] = {
    "draccus.wrap": wrapped,
    "pyrallis.wrap": wrapped,
    "lerobot.configs.parser.wrap": wrapped,
    "pyrallis.argparsing.wrap": wrapped,
}

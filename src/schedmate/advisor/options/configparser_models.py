"""configparser: sections of words, read from INI files and converted where they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, Sequence, Table, Value
from schedmate.advisor.options.tables import copied, look_up, merge, state_all, table_of

_PARSERS = (
    "configparser.ConfigParser",
    "configparser.RawConfigParser",
    "configparser.SafeConfigParser",
)
_SECTION = "configparser.SectionProxy"
_TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "yes", "true", "on"), True),
    **dict.fromkeys(("0", "no", "false", "off"), False),
}
Convert = Callable[[str], str | int | float | bool]


def parser(call: Call, _: Context) -> Value:
    return Value(Table(kind=call.callee), (call.line,))


def read(call: Call, context: Context) -> Value | None:
    """`parser.read(path)`, or of several paths each in turn."""
    table, paths = table_of(call.receiver), call.argument("filenames", 0)
    if table is None or paths is None:
        return None
    several = paths.data.items if isinstance(paths.data, Sequence) else [paths]
    for path in several:
        found = table_of(context.read_config(path.data)) if isinstance(path.data, str) else None
        table.complete = table.complete and found is not None
        for name, section in found.parts.items() if found is not None else ():
            inner = table_of(section)
            if inner is not None:
                own = Table({name: Value(copied(inner, _SECTION), section.lines, section.source)})
                merge(table, own)
    _add_defaults(table)
    state_all(context, table, depth=call.depth)
    return Value(None)


def _add_defaults(table: Table) -> None:
    """What stands below `[DEFAULT]` holds in every section that does not state it."""
    defaults = table_of(table.parts.get("DEFAULT"))
    for section in table.parts.values() if defaults is not None else ():
        below = table_of(section)
        if below is not None and defaults is not None:
            below.parts = {**defaults.parts, **below.parts}


def _getter(convert: Convert) -> CallModel:
    def get(call: Call, _: Context) -> Value | None:
        table = table_of(call.receiver)
        names = call.positional[: 1 if table is not None and table.kind == _SECTION else 2]
        if table is None or not all(isinstance(name.data, str) for name in names):
            return None
        option = ".".join((*(name.data for name in names[:-1]), names[-1].data.lower()))
        found = look_up(table, option)
        if found is None:
            after = call.positional[len(names) :]
            return call.keywords.get("fallback", after[0] if after else None)
        return _converted(found, convert)

    return get


def _converted(value: Value, convert: Convert) -> Value | None:
    if not isinstance(value.data, str):
        return None
    try:
        return Value(convert(value.data), value.lines, value.source)
    except (ValueError, KeyError):
        return None


_GETTERS: dict[str, CallModel] = {
    "get": _getter(str),
    "getint": _getter(int),
    "getfloat": _getter(float),
    "getboolean": _getter(lambda text: _TRUTHS[text.lower()]),
}
CONFIGPARSER: dict[str, CallModel] = {
    **dict.fromkeys(_PARSERS, parser),
    **{f"{kind}.read": read for kind in _PARSERS},
    **{f"{kind}.{name}": get for kind in (*_PARSERS, _SECTION) for name, get in _GETTERS.items()},
}

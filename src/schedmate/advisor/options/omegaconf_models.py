"""OmegaConf: configs loaded, merged, overridden from the command line."""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import (
    UNKNOWN_DATA,
    Call,
    LocalClass,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.options.argparse_models import words_for
from schedmate.advisor.options.configs.interpolation import resolve
from schedmate.advisor.options.given import Given
from schedmate.advisor.options.schema import instance
from schedmate.advisor.options.tables import (
    copied,
    look_up,
    merge,
    put,
    state_all,
    table_of,
)
from schedmate.advisor.options.text import typed

KIND = "omegaconf.DictConfig"


@dataclass(slots=True, eq=False)
class Config(Table):
    """`raw` is what it was before `${…}` was looked up: merging may change the answer."""

    raw: Table | None = None


def config(table: Table, context: Context, kind: str = KIND) -> Value:
    """A table as a config whose parts are attributes and whose references are resolved."""
    raw = copied(table, kind)
    resolved = table_of(resolve(Value(raw), context.environment))
    parts = raw.parts if resolved is None else resolved.parts
    return Value(Config(parts, kind, table.complete, raw=raw))


def _raw(value: Value) -> Table | None:
    table = table_of(value)
    return table.raw if isinstance(table, Config) and table.raw is not None else table


def stated(made: Value, call: Call, context: Context) -> Value:
    table = table_of(made)
    if table is not None:
        state_all(context, table, depth=call.depth)
    return made


def load(call: Call, context: Context) -> Value | None:
    path = call.argument("file_", 0)
    read = (
        context.read_config(path.data) if path is not None and isinstance(path.data, str) else None
    )
    table = table_of(read)
    return None if table is None else stated(config(table, context), call, context)


def create(call: Call, context: Context) -> Value | None:
    given = call.argument("obj", 0)
    if given is None or given.data is None:
        return Value(Config(kind=KIND), (call.line,))
    if isinstance(given.data, LocalClass):
        return config(instance(given, Table(), context), context)
    table = _raw(given)
    if table is not None:
        return config(copied(table), context)
    listed = _dotlist(given)
    return given if listed is None else config(listed, context)


def _dotlist(value: Value) -> Table | None:
    """`["a.b=1"]`; None where it is a list of something else."""
    if not isinstance(value.data, Sequence) or not value.data.items:
        return None
    texts = [item.data for item in value.data.items]
    if not all(isinstance(text, str) and "=" in text for text in texts):
        return None
    return from_words(
        [Given(str(item.data), item.lines, item.source, item.known) for item in value.data.items]
    )


def from_words(words: Many[Given]) -> Table:
    """`a.b=1` as nested settings; a bare word is a setting of nothing."""
    table = Table()
    for word in words:
        name, equals, text = word.text.partition("=")
        if name and not name.startswith("$"):
            value = typed(Given(text, word.lines, word.source, word.known))
            put(table, name.lstrip("+-"), value if equals else word.holding(None))
    return table


def from_cli(call: Call, context: Context) -> Value | None:
    words = words_for(call.argument("args_list", 0), context)
    return stated(config(from_words(words), context), call, context)


def from_dotlist(call: Call, context: Context) -> Value | None:
    given = call.argument("dotlist", 0)
    if given is None or not isinstance(given.data, Sequence):
        return None
    words = words_for(given, context)
    return stated(config(from_words(words), context), call, context)


def merged(call: Call, context: Context) -> Value | None:
    """Later ones win; unknown one may set anything, so the result is not complete."""
    result = Table()
    for value in call.positional:
        if isinstance(value.data, LocalClass):
            merge(result, instance(value, Table(), context))
            continue
        table = _raw(value)
        if table is None:
            listed = _dotlist(value)
            result.complete = result.complete and (listed is not None or _is_empty(value))
            table = listed if listed is not None else Table()
        merge(result, table)
    return stated(config(result, context), call, context)


def _is_empty(value: Value) -> bool:
    return value.data is None or (isinstance(value.data, Sequence) and not value.data.items)


def to_container(call: Call, _: Context) -> Value | None:
    given = call.argument("cfg", 0)
    table = table_of(given)
    if given is None or table is None:
        return given
    return Value(copied(table, "dict"), given.lines, given.source)


def select(call: Call, _: Context) -> Value | None:
    table, key = table_of(call.argument("cfg", 0)), call.argument("key", 1)
    if table is None or key is None or not isinstance(key.data, str):
        return None
    found = look_up(table, key.data)
    if found is not None:
        return found
    default = call.keywords.get("default")
    return default or Value(None if table.complete else UNKNOWN_DATA, (call.line,))


def update(call: Call, _: Context) -> Value | None:
    table, key, value = (
        table_of(call.argument("cfg", 0)),
        call.argument("key", 1),
        call.argument("value", 2),
    )
    if table is not None and key is not None and isinstance(key.data, str) and value is not None:
        put(table, key.data, value)
    return Value(None)


def merge_with(call: Call, context: Context) -> Value | None:
    """`cfg.merge_with(other)` changes the config itself."""
    table = table_of(call.receiver)
    for value in call.positional:
        over = _raw(value)
        if table is not None and over is not None:
            merge(table, copied(over, table.kind))
    if table is not None:
        state_all(context, table, depth=call.depth)
    return Value(None)


def nothing(_: Call, __: Context) -> Value:
    """Changes no value: `set_struct`, `freeze`, `lock`."""
    return Value(None)


_FUNCTIONS: dict[str, CallModel] = {
    "load": load,
    "create": create,
    "structured": create,
    "from_cli": from_cli,
    "from_dotlist": from_dotlist,
    "merge": merged,
    "unsafe_merge": merged,
    "to_container": to_container,
    "to_object": to_container,
    "select": select,
    "update": update,
    "set_struct": nothing,
    "set_readonly": nothing,
    "resolve": nothing,
    "register_new_resolver": nothing,
    "register_resolver": nothing,
}
OMEGACONF: dict[str, CallModel] = {
    **{f"omegaconf.OmegaConf.{name}": model for name, model in _FUNCTIONS.items()},
    **{f"omegaconf.omegaconf.OmegaConf.{name}": model for name, model in _FUNCTIONS.items()},
    f"{KIND}.merge_with": merge_with,
    f"{KIND}.merge_with_dotlist": merge_with,
    KIND: create,
}

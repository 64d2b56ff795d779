"""ml_collections: `ConfigDict`, and config files in Python that the command line changes."""

from __future__ import annotations

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import Call, LocalFunction, Table, Value
from schedmate.advisor.options.absl_models import command_line, holder
from schedmate.advisor.options.tables import copied, look_up, merge, put, state_all, table_of
from schedmate.advisor.options.text import like

_KIND = "ml_collections.ConfigDict"
_MODULES = (
    "ml_collections",
    "ml_collections.config_dict",
    "ml_collections.config_dict.config_dict",
)
_FLAGS = ("ml_collections.config_flags", "ml_collections.config_flags.config_flags")


def config_dict(call: Call, _: Context) -> Value:
    start = table_of(call.argument("initial_dictionary", 0))
    table = Table(kind=_KIND) if start is None else copied(start, _KIND)
    if call.callee.endswith(".create"):
        table.parts |= call.keywords
    return Value(table, (call.line,))


def reference(call: Call, _: Context) -> Value | None:
    """`FieldReference(3)` is read as what it refers to."""
    return call.argument("default", 0)


def placeholder(call: Call, _: Context) -> Value:
    return Value(None, (call.line,))


def update(call: Call, _: Context) -> Value | None:
    table, over = table_of(call.receiver), table_of(call.positional[0] if call.positional else None)
    if table is None:
        return None
    if over is not None:
        merge(table, copied(over, _KIND))
    for name, value in call.keywords.items():
        put(table, name, value)
    return Value(None)


def update_flat(call: Call, _: Context) -> Value | None:
    table, over = table_of(call.receiver), table_of(call.positional[0] if call.positional else None)
    for name, value in (over.parts if over is not None else {}).items():
        if table is not None:
            put(table, name, value)
    return Value(None)


def as_dict(call: Call, _: Context) -> Value | None:
    table = table_of(call.receiver)
    return None if table is None else Value(copied(table, "dict"), (call.line,))


def same(call: Call, _: Context) -> Value | None:
    return call.receiver


def define_config_file(call: Call, context: Context) -> Value | None:
    """`--config=path.py:arg --config.lr=3`: the file's `get_config` is interpreted."""
    name = call.argument("name", 0)
    if name is None or not isinstance(name.data, str):
        return None
    path = call.argument("default", 1)
    for pair in command_line(context):
        if pair.name == name.data and pair.values:
            path = pair.values[0].value
    made = _interpreted(path, context) if path is not None and isinstance(path.data, str) else None
    return _with_overrides(name.data, made or Table(kind=_KIND, complete=False), call, context)


def _interpreted(path: Value, context: Context) -> Table | None:
    file, colon, argument = path.data.partition(":")
    read = table_of(context.read_python_config(file))
    function = read.parts.get("get_config") if read is not None else None
    if function is None or not isinstance(function.data, LocalFunction):
        return None
    takes = bool(context.signature(function.data)) and colon
    words = [Value(argument, path.lines, path.source)] if takes else []
    return table_of(context.invoke(function, words))


def define_config_dict(call: Call, context: Context) -> Value | None:
    name, table = call.argument("name", 0), table_of(call.argument("config", 1))
    if name is None or not isinstance(name.data, str) or table is None:
        return None
    return _with_overrides(name.data, table, call, context)


def _with_overrides(name: str, table: Table, call: Call, context: Context) -> Value:
    for pair in command_line(context):
        if pair.name.startswith(f"{name}."):
            dotted = pair.name.removeprefix(f"{name}.")
            before = look_up(table, dotted)
            given = like(before, pair.values[0]) if len(pair.values) == 1 else pair.value()
            put(table, dotted, given)
    state_all(context, table)
    value = Value(table, (call.line,))
    context.state(Option(name=name, value=value))
    return holder(name, value, call)


_METHODS: dict[str, CallModel] = {
    "lock": same,
    "unlock": same,
    "update": update,
    "update_from_flattened_dict": update_flat,
    "to_dict": as_dict,
    "copy_and_resolve_references": same,
}
ML_COLLECTIONS: dict[str, CallModel] = {
    **{f"{module}.ConfigDict": config_dict for module in _MODULES},
    **{f"{module}.FrozenConfigDict": config_dict for module in _MODULES},
    **{f"{module}.create": config_dict for module in _MODULES},
    **{f"{module}.FieldReference": reference for module in _MODULES},
    **{f"{module}.placeholder": placeholder for module in _MODULES},
    **{f"{module}.required_placeholder": placeholder for module in _MODULES},
    **{f"{_KIND}.{name}": model for name, model in _METHODS.items()},
    **{f"{module}.DEFINE_config_file": define_config_file for module in _FLAGS},
    **{f"{module}.DEFINE_config_dict": define_config_dict for module in _FLAGS},
}

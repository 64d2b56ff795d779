"""gin-config: files and texts that bind the parameters of functions and classes."""

from __future__ import annotations

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.injected import MACROS
from schedmate.advisor.interpret.python.values import Call, Dotted, Sequence, Table, Value
from schedmate.advisor.options.configs import gin_text
from schedmate.advisor.options.configs.building import Builder
from schedmate.advisor.options.tables import table_of
from schedmate.advisor.sources.files import SourceFile

_MAX_INCLUDED = 40
_MAX_TEXT = 20_000


def parse_files_and_bindings(call: Call, context: Context) -> Value:
    """`gin.parse_config_files_and_bindings(files, bindings)`: the bindings come last."""
    files, bindings = call.argument("config_files", 0), call.argument("bindings", 1)
    for path in _listed(files):
        _read_file(path, context, [])
    for text in _listed(bindings):
        _bind_text(text, context)
    return Value(None)


def parse_file(call: Call, context: Context) -> Value:
    path = call.argument("config_file", 0)
    if path is not None:
        _read_file(path, context, [])
    return Value(None)


def parse_text(call: Call, context: Context) -> Value:
    for text in _listed(call.argument("bindings", 0)):
        _bind_text(text, context)
    return Value(None)


def bind_parameter(call: Call, context: Context) -> Value:
    name, value = call.argument("binding_key", 0), call.argument("value", 1)
    if name is not None and isinstance(name.data, str) and value is not None:
        _bind(name.data, value, context)
    return Value(None)


def external(call: Call, context: Context) -> Value | None:
    """`gin.external_configurable(torch.optim.Adam, name="Adam")` is what it is given."""
    given, name = call.argument("fn_or_cls", 0), call.argument("name", 1)
    if given is None:
        return None
    named = name.data if name is not None and isinstance(name.data, str) else ""
    own = given.data.name if isinstance(given.data, Dotted) else ""
    if named or own:
        context.configure("@", (named or own).rpartition(".")[2], given)
    return given


def _listed(value: Value | None) -> list[Value]:
    if value is None:
        return []
    return value.data.items if isinstance(value.data, Sequence) else [value]


def _read_file(path: Value, context: Context, seen: list[str]) -> None:
    if not isinstance(path.data, str) or path.data in seen or len(seen) > _MAX_INCLUDED:
        return
    seen.append(path.data)
    _bind_all(table_of(context.read_config(path.data)), context, seen)


def _bind_text(text: Value, context: Context) -> None:
    if isinstance(text.data, str) and len(text.data) < _MAX_TEXT:
        read = gin_text.read(text.data, Builder(SourceFile("", text.data)))
        table = table_of(read)
        for name, value in table.parts.items() if table is not None else ():
            _bind(name, Value(value.data, text.lines, text.source), context)


def _bind_all(table: Table | None, context: Context, seen: list[str]) -> None:
    if table is None:
        return
    for path in _listed(table.parts.get(gin_text.INCLUDED)):
        _read_file(path, context, seen)
    for name, value in table.parts.items():
        if name != gin_text.INCLUDED:
            _bind(name, value, context)


def _bind(selector: str, value: Value, context: Context) -> None:
    """`scope/module.Class.parameter`; a name alone is a macro."""
    scope, _, whole = selector.rpartition("/")
    owner, _, parameter = whole.rpartition(".")
    if owner == "macro":
        context.configure(MACROS, scope, value)
    elif owner:
        context.configure(owner.rpartition(".")[2], parameter, value)
    else:
        context.configure(MACROS, whole, value)


_FUNCTIONS: dict[str, CallModel] = {
    "parse_config_files_and_bindings": parse_files_and_bindings,
    "parse_config_file": parse_file,
    "parse_config": parse_text,
    "bind_parameter": bind_parameter,
    "external_configurable": external,
}
GIN: dict[str, CallModel] = {
    f"{module}.{name}": model
    for module in ("gin", "gin.config", "gin.tf", "gin.torch")
    for name, model in _FUNCTIONS.items()
}

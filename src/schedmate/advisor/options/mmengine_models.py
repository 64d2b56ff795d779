"""mmengine and mmcv: `Config.fromfile` with its bases, then `merge_from_dict`."""

from __future__ import annotations

import posixpath

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, LocalFunction, Sequence, Table, Value
from schedmate.advisor.options.configs.merging import merge as merged
from schedmate.advisor.options.omegaconf_models import nothing
from schedmate.advisor.options.tables import copied, put, state_all, table_of

_KIND = "mmengine.config.Config"
_CLASSES = (
    "mmengine.config.Config",
    "mmengine.Config",
    "mmengine.config.config.Config",
    "mmcv.Config",
    "mmcv.utils.Config",
)
_MAX_BASES = 12


def fromfile(call: Call, context: Context) -> Value | None:
    path = call.argument("filename", 0)
    if path is None or not isinstance(path.data, str):
        return None
    read = _read(path.data, context, 0)
    if read is None:
        return None
    table = copied(read, _KIND)
    state_all(context, table)
    return Value(table, path.lines, path.source)


def _read(path: str, context: Context, depth: int) -> Table | None:
    """A file over the files that its `_base_` names; a Python file is interpreted."""
    is_python = path.endswith(".py")
    read = table_of(context.read_python_config(path) if is_python else context.read_config(path))
    if read is None or depth > _MAX_BASES:
        return None
    result = Value(Table())
    for base in _bases(read.parts.get("_base_")):
        below = _read(
            posixpath.normpath(posixpath.join(posixpath.dirname(path), base)), context, depth + 1
        )
        result = merged(result, Value(below if below is not None else Table(complete=False)))
    own = {name: value for name, value in read.parts.items() if _is_setting(name, value)}
    return table_of(merged(result, Value(Table(own, complete=read.complete))))


def _is_setting(name: str, value: Value) -> bool:
    return not name.startswith("_") and not isinstance(value.data, LocalFunction)


def _bases(value: Value | None) -> list[str]:
    listed = value.data.items if value is not None and isinstance(value.data, Sequence) else [value]
    return [each.data for each in listed if each is not None and isinstance(each.data, str)]


def make(call: Call, context: Context) -> Value | None:
    """`Config(dict(…))`."""
    start = table_of(call.argument("cfg_dict", 0))
    table = Table(kind=_KIND) if start is None else copied(start, _KIND)
    table.parts |= call.keywords
    state_all(context, table, depth=call.depth)
    return Value(table, (call.line,))


def merge_from_dict(call: Call, context: Context) -> Value | None:
    """`{"optimizer.lr": 0.1}` over the config."""
    table, options = table_of(call.receiver), table_of(call.argument("options", 0))
    if table is None or options is None:
        return Value(None)
    for name, value in options.parts.items():
        below = table_of(value)
        put(table, name, value if below is None else Value(copied(below, _KIND), value.lines))
    state_all(context, table)
    return Value(None)


MMENGINE: dict[str, CallModel] = {
    **{f"{kind}.fromfile": fromfile for kind in _CLASSES},
    **{f"{kind}.merge_from_dict": merge_from_dict for kind in _CLASSES},
    **{f"{kind}.dump": nothing for kind in _CLASSES},
    **dict.fromkeys(_CLASSES, make),
}

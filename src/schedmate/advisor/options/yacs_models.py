"""yacs, fvcore and detectron2: a tree of defaults, merged with a file and with words."""

from __future__ import annotations

from schedmate.advisor.interpret.python.context import CallModel, Context
from schedmate.advisor.interpret.python.values import Call, Sequence, Table, Value
from schedmate.advisor.options.configs import inherit
from schedmate.advisor.options.given import Given, given_list
from schedmate.advisor.options.omegaconf_models import nothing
from schedmate.advisor.options.tables import copied, look_up, merge, put, state_all, table_of
from schedmate.advisor.options.text import literal

_KINDS = (
    "yacs.config.CfgNode",
    "fvcore.common.config.CfgNode",
    "detectron2.config.CfgNode",
    "detectron2.config.config.CfgNode",
    "iopath.common.CfgNode",
    "fastreid.config.CfgNode",
)


def node(call: Call, _: Context) -> Value:
    """`CfgNode({…})`; of a class of the job that inherits from it, the instance itself."""
    start = table_of(call.argument("init_dict", 0))
    own = table_of(call.receiver)
    if own is not None and call.receiver is not None:
        merge(own, start or Table())
        return call.receiver
    table = Table(kind=call.callee)
    if start is not None:
        merge(table, copied(start, call.callee))
    return Value(table, (call.line,))


def clone(call: Call, _: Context) -> Value | None:
    table = table_of(call.receiver)
    return None if table is None else Value(copied(table), (call.line,))


def merge_from_file(call: Call, context: Context) -> Value | None:
    table, path = table_of(call.receiver), call.argument("cfg_filename", 0)
    if table is None:
        return None
    if path is None or not isinstance(path.data, str):
        table.complete = False
        return Value(None)
    read = _read(path.data, context)
    table.complete = table.complete and read is not None
    if read is not None:
        merge(table, copied(read, table.kind))
    state_all(context, table, depth=call.depth)
    return Value(None)


def _read(path: str, context: Context) -> Table | None:
    """A file with those that its `_BASE_` names."""
    found = context.read_config(path)
    return None if found is None else table_of(inherit(found, path, context))


def merge_from_list(call: Call, context: Context) -> Value | None:
    """`["SOLVER.LR", "0.1"]`, as a command line's rest is handed on."""
    table, listed = table_of(call.receiver), call.argument("cfg_list", 0)
    words = given_list(listed) if listed is not None else None
    if table is None:
        return None
    if words is None:
        return Value(None)
    for name, word in zip(words[::2], words[1::2], strict=False):
        if name.known:
            put(table, name.text, _decoded(word.behind(name), look_up(table, name.text)))
    state_all(context, table, depth=call.depth)
    return Value(None)


def _decoded(word: Given, before: Value | None) -> Value:
    """As a literal where it is one (`"('name')"`), else as text, which a text stays."""
    read = literal(word)
    if before is not None and isinstance(before.data, str) and not isinstance(read.data, str):
        return read if isinstance(read.data, Sequence) else word.value
    return read if read.known else word.value


def merge_from_other(call: Call, context: Context) -> Value | None:
    table, other = table_of(call.receiver), table_of(call.argument("cfg_other", 0))
    if table is not None and other is not None:
        merge(table, copied(other, table.kind))
        state_all(context, table, depth=call.depth)
    return Value(None)


def load_cfg(call: Call, context: Context) -> Value | None:
    """`CfgNode.load_cfg(open(path))`, `load_yaml_with_base(path)`."""
    path = call.argument("filename", 0)
    if path is None or not isinstance(path.data, str):
        return None
    read = _read(path.data, context)
    return None if read is None else Value(copied(read, _KINDS[0]), path.lines)


def freeze(call: Call, context: Context) -> Value:
    table = table_of(call.receiver)
    if table is not None:
        state_all(context, table, depth=call.depth)
    return Value(None)


_METHODS: dict[str, CallModel] = {
    "clone": clone,
    "merge_from_file": merge_from_file,
    "merge_from_list": merge_from_list,
    "merge_from_other_cfg": merge_from_other,
    "load_yaml_with_base": load_cfg,
    "freeze": freeze,
    "defrost": nothing,
    "set_new_allowed": nothing,
    "register_deprecated_key": nothing,
}
YACS: dict[str, CallModel] = {
    **dict.fromkeys(_KINDS, node),
    **{f"{kind}.{name}": model for kind in _KINDS for name, model in _METHODS.items()},
}

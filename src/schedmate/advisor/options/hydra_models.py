"""hydra: the config that `@hydra.main` composes, and what `instantiate` makes of its parts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from schedmate.advisor.interpret.python.context import CallModel, Context, Wrapper
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import (
    Call,
    Dotted,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Partial,
    Sequence,
    Table,
    Value,
)
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs import compose, read_arguments
from schedmate.advisor.options.omegaconf_models import config
from schedmate.advisor.options.schema import instance
from schedmate.advisor.options.tables import HIDDEN, merge, state_all, table_of

_STORE = f"{HIDDEN}store>"
_STORE_KIND = "hydra.core.config_store.ConfigStore"
_USUAL_DIRECTORIES = ("conf", "config", "configs", "../conf", "../config", "../configs")
_OWN_WORDS = ("_target_", "_partial_", "_args_", "_recursive_", "_convert_")
_MAX_DEPTH = 12


def main(function: LocalFunction, decorator: Value, context: Context) -> Value | None:
    """`@hydra.main(config_path="conf", config_name="config")`."""
    settings = decorator.data.call if isinstance(decorator.data, LibraryObject) else None
    path = settings.argument("config_path", 0) if settings is not None else None
    name = settings.argument("config_name", 1) if settings is not None else None
    path, name = _of_a_file(path, name)
    given = read_arguments(context.arguments)
    directories = list(_directories(given.config_path, path, function.line.file))
    if given.config_dir is not None:
        directories.append(given.config_dir.text)
    named = given.config_name.text if given.config_name else _text(name)
    found = compose(
        context,
        directories[0],
        named,
        given.overrides,
        store=_stored(function, context),
        more_dirs=directories[1:],
    )
    table = table_of(found)
    made = config(table if table is not None else Table(complete=False), context)
    state_all(context, made.data)
    return context.invoke(Value(function, (function.line,)), [made])


def _of_a_file(path: Value | None, name: Value | None) -> tuple[Value | None, Value | None]:
    """Before 1.0 one path named the config: `config_path="conf/config.yaml"`."""
    text = _text(path)
    if path is None or name is not None or text is None or not text.endswith((".yaml", ".yml")):
        return path, name
    directory, _, file = text.rpartition("/")
    return Value(directory or ".", path.lines), Value(file, path.lines)


def _directories(given: Word | None, declared: Value | None, file: str) -> Iterator[str]:
    """Relative to the file of the function; a path on the command line to where the job runs."""
    if given is not None:
        yield given.text
    path = _text(declared)
    if declared is not None and not declared.plain:
        yield from (_from_file(file, each) for each in _USUAL_DIRECTORIES)
    if declared is None or declared.data is None or path is None:
        path = "."
    if not path.startswith(("/", "pkg:")):
        yield _from_file(file, path)
    yield path


def _from_file(file: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), path))


def _text(value: Value | None) -> str | None:
    return value.data if value is not None and isinstance(value.data, str) else None


def composed(call: Call, context: Context) -> Value | None:
    """`compose(config_name=…, overrides=[…])` in the code."""
    name = _text(call.argument("config_name", 0))
    listed = call.argument("overrides", 1)
    items = listed.data.items if listed is not None and isinstance(listed.data, Sequence) else []
    words = [Word(str(each.data), each.lines, each.known) for each in items]
    here = posixpath.dirname(call.line.file)
    places = [posixpath.normpath(posixpath.join(here, each)) for each in _USUAL_DIRECTORIES]
    table = table_of(compose(context, places[0], name, words, more_dirs=places[1:]))
    if table is None or name is None:
        return None
    made = config(table, context)
    state_all(context, made.data)
    return made


def store_of(call: Call, _: Context) -> Value:
    """`ConfigStore.instance()`."""
    return Value(Table({_STORE: Value(Table())}, _STORE_KIND, complete=False), (call.line,))


def store(call: Call, _: Context) -> Value:
    table = table_of(call.receiver)
    kept = table_of(table.parts.get(_STORE)) if table is not None else None
    name, node = call.argument("name", 1 if call.positional[1:] else 0), call.argument("node", 1)
    group = _text(call.argument("group", 2))
    text = _text(name)
    if kept is not None and text is not None and node is not None:
        kept.parts[f"{group}/{text}" if group else text] = node
    return Value(None)


def _stored(function: LocalFunction, context: Context) -> Mapping[str, Value]:
    """What the module of the function has put into a `ConfigStore`."""
    home = function.home
    names = home.globals.names if isinstance(home, Scope) else {}
    found: dict[str, Value] = {}
    for value in list(names.values()):
        table = table_of(value)
        kept = table_of(table.parts.get(_STORE)) if table is not None else None
        for name, node in (kept.parts if kept is not None else {}).items():
            found[name] = _as_table(node, context)
    return found


def _as_table(node: Value, context: Context) -> Value:
    if isinstance(node.data, LocalClass):
        return Value(instance(node, Table(), context), node.lines)
    return node


def instantiate(call: Call, context: Context) -> Value | None:
    """What `_target_` names is called with the rest of the config."""
    table = _with_target(table_of(call.argument("config", 0)))
    if table is None or "_target_" not in table.parts:
        return None
    own = Table(dict(table.parts), table.kind, table.complete)
    merge(own, Table({name: each for name, each in call.keywords.items() if name != "config"}))
    return _made(own, context, 0)


def _with_target(table: Table | None) -> Table | None:
    """Before 1.0 it was `class` (or `cls`), and its arguments stood below `params`."""
    if table is None or "_target_" in table.parts:
        return table
    named = table.parts.get("class") or table.parts.get("cls")
    params = table_of(table.parts.get("params"))
    if named is None:
        return table
    return Table({"_target_": named, **(params.parts if params is not None else {})}, table.kind)


def _made(table: Table, context: Context, depth: int) -> Value | None:
    target = table.parts["_target_"]
    if not isinstance(target.data, str):
        return None
    keywords = {
        name: _inside(value, context, depth)
        for name, value in table.parts.items()
        if name not in _OWN_WORDS
    }
    listed = table.parts.get("_args_")
    items = listed.data.items if listed is not None and isinstance(listed.data, Sequence) else []
    called = Value(Dotted(target.data), target.lines, target.source)
    partial = table.parts.get("_partial_")
    if partial is not None and partial.data is True:
        return Value(Partial(called, tuple(items), keywords), target.lines, target.source)
    return context.invoke(called, items, keywords)


def _inside(value: Value, context: Context, depth: int) -> Value:
    below = _with_target(table_of(value)) if "params" in _parts(value) else table_of(value)
    if below is not None and "_target_" in below.parts and depth < _MAX_DEPTH:
        return _made(below, context, depth + 1) or value
    return value


def _parts(value: Value) -> Mapping[str, Value]:
    table = table_of(value)
    return {} if table is None else table.parts


def looked_up(call: Call, context: Context) -> Value | None:
    """`get_class("src.models.Net")`: the job's own class where it has one of that name."""
    path = call.argument("path", 0)
    if path is None or not isinstance(path.data, str):
        return None
    return context.own(Value(Dotted(path.data), path.lines, path.source))


HYDRA: dict[str, CallModel] = {
    "hydra.utils.get_class": looked_up,
    "hydra.utils.get_method": looked_up,
    "hydra.utils.get_object": looked_up,
    "hydra.compose": composed,
    "hydra.experimental.compose": composed,
    "hydra.core.config_store.ConfigStore.instance": store_of,
    f"{_STORE_KIND}.store": store,
    "hydra.utils.instantiate": instantiate,
    "hydra.utils.call": instantiate,
    "hydra.instantiate": instantiate,
}
HYDRA_WRAPPERS: dict[str, Wrapper] = {"hydra.main": main, "hydra.main.main": main}

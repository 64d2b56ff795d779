"""Local modules, read and interpreted when one of their names is used."""

from __future__ import annotations

import ast
from pathlib import Path

from schedmate.advisor.interpret.python.engine import Engine
from schedmate.advisor.interpret.python.lookup import from_stars
from schedmate.advisor.interpret.python.parsed import ParsedFile, Unparsable, parse_file
from schedmate.advisor.interpret.python.references import Deferred, LocalModule
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import UNKNOWN, Dotted, Table, Value
from schedmate.model import Source


def read_code(engine: Engine, path: Path, depth: int, origin: Source = "code") -> ParsedFile | None:
    limits = engine.budget.limits
    if len(engine.parsed) >= limits.files or engine.bytes_read > limits.total_bytes:
        engine.trace.exhausted = True
        return None
    source = engine.files.read(path, inside=engine.finder.allowed)
    if source is None:
        return None
    engine.bytes_read += len(source.text)
    engine.budget.parse(source.text)
    parsed = parse_file(source, depth, origin)
    if isinstance(parsed, Unparsable):
        engine.problems.append(parsed)
        return None
    if parsed.problem is not None:
        engine.problems.append(parsed.problem)
    engine.parsed.append(parsed)
    return parsed


def member(engine: Engine, module: LocalModule, name: str) -> Value | None:
    """A name of a local module, which is interpreted now if it was not before."""
    found = _member(engine, module, name)
    return None if found is None else resolve(engine, found)


def _member(engine: Engine, module: LocalModule, name: str) -> Value | None:
    """As it stands there; `from . import layers` in a package means the module below."""
    scope = load(engine, module)
    named = None if scope is None else scope.names.get(name)
    if named is not None and not _is_itself(named, module, name):
        return named
    starred = None if scope is None else from_stars(engine, name, scope)
    if starred is not None:
        return starred  # `from .launch import *` hides the submodule of that name
    below = engine.finder.below(module, name) if module.directory is not None else None
    if below is not None:
        below.depth = below.depth or module.depth
        return Value(below)
    library = scope.library_star if scope is not None else ""
    return Value(Dotted(f"{library}.{name}")) if library else None


def _is_itself(value: Value, module: LocalModule, name: str) -> bool:
    data = value.data
    return isinstance(data, Deferred) and data.module is module and data.name == name


def load(engine: Engine, module: LocalModule) -> Scope | None:
    if module.interpreted:
        known: Scope | None = module.scope
        return known
    module.interpreted = True
    parsed = None if module.path is None else read_code(engine, module.path, module.depth or 1)
    if parsed is None:
        return None
    scope = module.scope = module_scope(parsed, module)
    kept = engine.state
    engine.state = kept.inner()
    try:
        with engine.memory.outside():
            engine.execute(parsed.tree.body, scope)
    finally:
        engine.state = kept
    return scope


def module_scope(parsed: ParsedFile, module: LocalModule, name: str | None = None) -> Scope:
    path = str(parsed.source.path or parsed.source.name)
    names = {"__name__": Value(name or module.name), "__file__": Value(path)}
    match parsed.tree.body[:1]:
        case [ast.Expr(value=ast.Constant(value=str(text)) as node)]:
            names["__doc__"] = Value(text, (parsed.line(node),))
    return Scope(parsed, module, names)


def resolve(engine: Engine, value: Value) -> Value:
    """Follow `from module import name` to what it means."""
    for _ in range(20):
        if not isinstance(value.data, Deferred):
            return value
        found = _member(engine, value.data.module, value.data.name)
        if found is None:
            return _elsewhere(value.data)
        value = found
    return UNKNOWN


def _elsewhere(deferred: Deferred) -> Value:
    """A folder of the job may have the name of a library: `datasets`."""
    module = deferred.module
    if module.path is not None and module.scope is None:
        return UNKNOWN
    return Value(Dotted(f"{module.name}.{deferred.name}"))


def run_file(engine: Engine, path: Path, scope: Scope, origin: Source) -> bool:
    """`exec` of a file: its statements run among the names of the scope."""
    parsed = read_code(engine, path, scope.file.depth, origin)
    if parsed is None:
        return False
    kept, scope.file = scope.file, parsed
    try:
        engine.execute(parsed.tree.body, scope)
    finally:
        scope.file = kept
    return True


def settings_of(engine: Engine, path: Path) -> Value | None:
    """A Python file of settings, as a table of its names."""
    parsed = read_code(engine, path, 1, "config")
    if parsed is None:
        return None
    scope = module_scope(parsed, LocalModule(path.stem, path, None))
    kept = engine.state
    engine.state = kept.inner()
    try:
        with engine.memory.outside():
            engine.execute(parsed.tree.body, scope)
    finally:
        engine.state = kept
    parts = {name: value for name, value in scope.names.items() if not name.startswith("__")}
    return Value(Table(parts, "module"), (parsed.line(parsed.tree),), "config")

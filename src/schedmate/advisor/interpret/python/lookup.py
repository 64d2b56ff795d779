"""What a name means where it stands."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

from schedmate.advisor.interpret.python.engine import Engine
from schedmate.advisor.interpret.python.parsed import kept_with_tree
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import UNKNOWN, Dotted, Value

_BUILTINS = {name: Value(Dotted(name)) for name in dir(builtins)}


def lookup(engine: Engine, name: str, scope: Scope) -> Value:
    found = find(engine, name, scope)
    if found is not None:
        return found
    star = scope.globals.library_star
    return Value(Dotted(f"{star}.{name}")) if star else UNKNOWN


def find(engine: Engine, name: str, scope: Scope) -> Value | None:
    """A name that the job has bound, or Python itself."""
    current: Scope | None = scope
    while current is not None:
        value = current.names.get(name)
        if value is not None:
            return engine.resolve(value)
        current = current.parent
    top = scope.globals
    value = top.names.get(name)
    if value is not None:
        return engine.resolve(value)
    return _BUILTINS.get(name) or from_stars(engine, name, top)


def from_stars(engine: Engine, name: str, top: Scope) -> Value | None:
    """A name that `from module import *` brought; only files that have the word are parsed."""
    for module in reversed(top.stars):
        if module.interpreted or _mentions(engine, module.path, name):
            value = engine.member(module, name)
            if value is not None:
                return value
    return None


def _mentions(engine: Engine, path: Path | None, name: str) -> bool:
    if path is None:
        return False
    if path not in engine.texts:
        source = engine.files.read(path, inside=engine.finder.allowed)
        engine.texts[path] = source.text if source is not None else ""
    text = engine.texts[path]
    return bool(re.search(rf"\b{re.escape(name)}\b", text)) or "import *" in text


def is_undefined(engine: Engine, name: str, scope: Scope) -> bool:
    """Whether no line of the file binds a name, and no library's names are imported as a whole."""
    if find(engine, name, scope) is not None or scope.globals.library_star or scope.globals.stars:
        return False
    return name not in _bound(scope.file.tree) and not name.startswith("__")


@kept_with_tree
def _bound(tree: ast.Module) -> frozenset[str]:
    found: set[str] = set()
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(part.name)
        elif isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, ast.alias):
            found.add(part.asname or part.name.partition(".")[0])
        elif isinstance(part, ast.ExceptHandler) and part.name:
            found.add(part.name)
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            found.update(part.names)
        elif isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
            found.add(part.name)
    return frozenset(found)

"""Import statements: local modules are bound unread, libraries by their dotted names."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.engine import Engine, Flow
from schedmate.advisor.interpret.python.references import Deferred, LocalModule
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Imported
from schedmate.advisor.interpret.python.values import Dotted, Value


def import_modules(engine: Engine, node: ast.Import, scope: Scope) -> Flow:
    for alias in node.names:
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        module = _reached(engine.finder.find(name), scope)
        bound = alias.asname or name
        if module is None:
            _note(engine, alias.name, alias, scope)
            _bind(engine, bound, Value(Dotted(name)), scope)
        else:
            _note_own(engine, alias.name, alias, scope)
            _is_imported(engine, module, scope)
            _bind(engine, bound, Value(module), scope)
    return Flow.NEXT


def import_from(engine: Engine, node: ast.ImportFrom, scope: Scope) -> Flow:
    module = _reached(_module(engine, node, scope), scope)
    for alias in node.names:
        if alias.name == "*":
            _star(engine, node, module, scope)
        elif module is None:
            name = f"{node.module}.{alias.name}" if node.module else alias.name
            _note(engine, name, alias, scope)
            _bind(engine, alias.asname or alias.name, Value(Dotted(name)), scope)
        else:
            _note_own(engine, f"{module.name}.{alias.name}", alias, scope)
            _is_imported(engine, module, scope, alias.name)
            deferred = Value(Deferred(module, alias.name))
            _bind(engine, alias.asname or alias.name, deferred, scope)
    return Flow.NEXT


def _module(engine: Engine, node: ast.ImportFrom, scope: Scope) -> LocalModule | None:
    if not node.level:
        return engine.finder.find(node.module or "")
    package = engine.finder.above(scope.module, node.level)
    if package is None or not node.module:
        return package
    return engine.finder.below(package, node.module)


def _reached(module: LocalModule | None, scope: Scope) -> LocalModule | None:
    if module is not None and not module.depth:
        module.depth = scope.file.depth + 1
    return module


def _star(engine: Engine, node: ast.ImportFrom, module: LocalModule | None, scope: Scope) -> None:
    if module is not None:
        scope.globals.stars.append(module)
    elif node.module and not node.level:
        _note(engine, node.module, node, scope)
        scope.globals.library_star = node.module


def _bind(engine: Engine, name: str, value: Value, scope: Scope) -> None:
    engine.memory.write(scope.home_of(name).names, name, value)


def _note(engine: Engine, name: str, node: ast.AST, scope: Scope) -> None:
    if len(engine.trace.imports) < engine.budget.limits.records:
        line, optional = scope.file.line(node), bool(scope.trying)
        engine.trace.imports.append(Imported(name, line, scope.file.depth, optional))


def _is_imported(engine: Engine, module: LocalModule, scope: Scope, name: str = "") -> None:
    """Should it be no Python, the job ends here, even if it never uses what it imports."""
    if not engine.state.certain or scope.trying:
        return
    below = engine.finder.below(module, name) if name and module.directory is not None else None
    for each in (module, below):
        if each is not None:
            engine.imported[each] = None


def _note_own(engine: Engine, name: str, node: ast.AST, scope: Scope) -> None:
    if len(engine.trace.own_imports) < engine.budget.limits.records:
        engine.trace.own_imports.append(Imported(name, scope.file.line(node), scope.file.depth))

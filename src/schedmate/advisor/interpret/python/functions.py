"""The job's own functions: defined, decorated, interpreted."""

from __future__ import annotations

import ast
from dataclasses import replace

from schedmate.advisor.interpret.python.assignment import bind, note
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Flow, Site
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.truth import any_of, truth
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    UNKNOWN_DATA,
    Dotted,
    IfPresent,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Partial,
    Sequence,
    Table,
    Value,
)

_OF_SETTINGS = 40_000
"""Steps for a function by which a module makes its settings, however often it calls it."""
_GENERATES = (ast.Yield, ast.YieldFrom)


def define_function(
    engine: Engine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
) -> Flow:
    decorators = tuple(engine.evaluate(part, scope) for part in node.decorator_list)
    qualified = (
        f"{scope.names['__qualname__'].data}.{node.name}" if scope.kind == "class" else node.name
    )
    function = LocalFunction(node, scope, qualified, scope.file.line(node), decorators)
    engine.functions.append(function)
    value = Value(function, (function.line,))
    bind_decorated(engine, value, decorators, Site(scope, node), node.name)
    return Flow.NEXT


def bind_decorated(
    engine: Engine, value: Value, decorators: tuple[Value, ...], site: Site, name: str
) -> None:
    """Give a function or class that was defined the name it was defined by."""
    made = _decorated(engine, value, decorators, site)
    bind(engine, name, made, site.scope, site.node, record=False)


def _decorated(engine: Engine, value: Value, decorators: tuple[Value, ...], site: Site) -> Value:
    """The job's own decorators are called; what they return counts if it can be called."""
    for decorator in reversed(decorators):
        if isinstance(decorator.data, (LocalFunction, Partial)):
            result = engine.call(decorator, Arguments([value]), site)
            if isinstance(result.data, (LocalFunction, LocalClass, Partial)):
                value = result
    return value


def define_lambda(engine: Engine, node: ast.Lambda, scope: Scope) -> Value:
    return Value(LocalFunction(node, scope, "<lambda>", scope.file.line(node)))


def invoke(engine: Engine, function: LocalFunction, arguments: Arguments, site: Site) -> Value:
    """Wrappers first: a decorator of a library may say what a call really does."""
    for decorator in function.decorators:
        wrapper = engine.wrappers.get(_decorator_name(decorator))
        if wrapper is None or function.node in engine.unwrapping:
            continue
        engine.unwrapping.add(function.node)
        try:
            found = wrapper(function, decorator, engine.context)
        finally:
            engine.unwrapping.discard(function.node)
        if found is not None:
            return found
    return interpret_function(engine, function, arguments, site)


def _decorator_name(decorator: Value) -> str:
    data = decorator.data
    if isinstance(data, Dotted):
        return data.name
    return data.kind if isinstance(data, LibraryObject) else ""


def interpret_function(
    engine: Engine, function: LocalFunction, arguments: Arguments, site: Site
) -> Value:
    state = engine.state
    limits = engine.budget.limits
    times = state.interpreted.get(function.node, 0)
    nested = state.active.count(function.node)
    if (
        state.calls >= limits.call_depth
        or (times >= engine.budget.calls_of_one and not _makes_settings(engine, function))
        or nested >= limits.recursion
    ):
        return UNKNOWN
    state.interpreted[function.node] = times + 1
    bound = bind_arguments(engine, function, arguments)
    engine.budget.tick()
    home: Scope = function.home
    scope = home.inner("function")
    scope.function, scope.arguments = function, bound
    scope.names.update(bound)
    _note_arguments(engine, function, arguments, site)
    kept = (state.within, state.target, state.calls)
    state.within, state.target, state.calls = function.name, "", state.calls + 1
    state.active.append(function.node)
    before = engine.budget.left
    try:
        return _result(engine, function, scope)
    except RecursionError:
        return UNKNOWN
    finally:
        used = before - engine.budget.left
        state.spent[function.node] = state.spent.get(function.node, 0) + used
        state.active.pop()
        state.within, state.target, state.calls = kept


def _makes_settings(engine: Engine, function: LocalFunction) -> bool:
    """A file of a hundred presets, each a copy of another that differs a little."""
    state = engine.state
    return state.loading and state.spent.get(function.node, 0) < _OF_SETTINGS


def _note_arguments(
    engine: Engine, function: LocalFunction, arguments: Arguments, site: Site
) -> None:
    for name, value in arguments.keywords.items():
        note(engine, name, value, "keyword", site, of=function.name)


def _result(engine: Engine, function: LocalFunction, scope: Scope) -> Value:
    node = function.node
    if isinstance(node, ast.Lambda):
        return engine.evaluate(node.body, scope)
    generates = "yield" in scope.file.source.text and _generates(engine, node)
    scope.yielded = [] if generates else None
    flow = engine.execute(node.body, scope)
    if generates:
        return Value(Sequence(list(scope.yielded or ()), complete=False, kind="generator"))
    if flow is Flow.NEXT:
        scope.returned.append(Value(None))
    found = any_of(scope.returned) if scope.returned else UNKNOWN
    return _if_present(scope.returned) if scope.absent and not found.known else found


def _if_present(returned: list[Value]) -> Value:
    """What a search of the disk returns: the newest checkpoint, or None where there is none."""
    there = any_of(value for value in returned if truth(value) is not False)
    return IfPresent(UNKNOWN_DATA, there.lines, there.source, there=there)


def _generates(engine: Engine, function: ast.AST) -> bool:
    if function in engine.generators:
        return engine.generators[function]
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    found = False
    while waiting and not found:
        part = waiting.pop()
        found = isinstance(part, _GENERATES)
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(part))
    engine.generators[function] = found
    return found


def bound_method(function: LocalFunction, instance: Value, cls: Value | None = None) -> Value:
    """A method of an instance, or of a class where it is one of the class."""
    names = [d.data.name for d in function.decorators if isinstance(d.data, Dotted)]
    if "staticmethod" in names:
        return Value(function, (function.line,))
    receiver = cls if "classmethod" in names and cls is not None else instance
    return Value(replace(function, bound_to=receiver), (function.line,))


def bind_arguments(
    engine: Engine, function: LocalFunction, arguments: Arguments
) -> dict[str, Value]:
    """Every parameter gets a value: what is given, the default, or UNKNOWN."""
    spec = function.node.args
    names = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    given = list(arguments.positional)
    if function.bound_to is not None:
        given.insert(0, function.bound_to)
    bound = dict(zip(names, given, strict=False))
    left = {name: value for name, value in arguments.keywords.items() if name not in bound}
    wanted = {*names, *(part.arg for part in spec.kwonlyargs)}
    bound.update({name: value for name, value in left.items() if name in wanted})
    for name, default in parameter_defaults(function):
        if name not in bound:
            bound[name] = _missing(engine, function, default, complete=arguments.complete)
    if spec.vararg:
        rest = Sequence(given[len(names) :], arguments.complete, "tuple")
        bound[spec.vararg.arg] = Value(rest)
    if spec.kwarg:
        extra = {name: value for name, value in left.items() if name not in wanted}
        bound[spec.kwarg.arg] = Value(Table(extra, complete=arguments.complete))
    return bound


def as_given(function: LocalFunction, arguments: Arguments) -> dict[str, Value]:
    """Arguments by the names of their parameters, with those defaults that are plain constants."""
    spec = function.node.args
    names = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    names = names[1:] if function.bound_to is not None else names
    bound = dict(zip(names, arguments.positional, strict=False)) | dict(arguments.keywords)
    file = default_scope(function).file
    for name, default in parameter_defaults(function) if arguments.complete else ():
        if isinstance(default, ast.Constant) and name not in bound:
            bound[name] = Value(default.value, (file.line(default),))
    return bound


def _missing(
    engine: Engine, function: LocalFunction, default: ast.expr | None, *, complete: bool
) -> Value:
    if default is None or not complete:
        return UNKNOWN
    return engine.evaluate(default, default_scope(function))


def default_scope(function: LocalFunction) -> Scope:
    """Defaults are evaluated where the function is defined."""
    scope: Scope = function.home
    return scope


def parameter_defaults(function: LocalFunction) -> list[tuple[str, ast.expr | None]]:
    spec = function.node.args
    positional = [part.arg for part in (*spec.posonlyargs, *spec.args)]
    bare = len(positional) - len(spec.defaults)
    pairs: list[tuple[str, ast.expr | None]] = [(name, None) for name in positional[:bare]]
    pairs += zip(positional[bare:], spec.defaults, strict=True)
    pairs += zip((part.arg for part in spec.kwonlyargs), spec.kw_defaults, strict=True)
    return pairs

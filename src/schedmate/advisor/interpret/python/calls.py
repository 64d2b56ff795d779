"""Calls: of the job's own code, which are interpreted, and of libraries, which are noted."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.context import CallModel
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.injected import with_bindings
from schedmate.advisor.interpret.python.natives import NATIVE_METHODS, NATIVES
from schedmate.advisor.interpret.python.references import Member, Super
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
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
from schedmate.advisor.sources.words import words

_MAX_CALLEE = 200
_RETURN_SELF = words(
    "to cuda cpu train eval half bfloat16 float double requires_grad_ share_memory compile "
    "xpu npu ipu to_device apply"
)
"""Methods of models and tensors after which the name still means the same thing."""


def call_expression(engine: Engine, node: ast.Call, scope: Scope) -> Value:
    target, engine.state.target = engine.state.target, ""
    callee = engine.evaluate(node.func, scope)
    arguments = evaluate_arguments(engine, node, scope)
    engine.state.target = target
    return engine.call(callee, arguments, Site(scope, node))


def evaluate_arguments(engine: Engine, node: ast.Call, scope: Scope) -> Arguments:
    arguments = Arguments()
    for part in node.args:
        if not isinstance(part, ast.Starred):
            arguments.positional.append(engine.evaluate(part, scope))
            continue
        more = engine.evaluate(part.value, scope).data
        if isinstance(more, Sequence):
            arguments.positional.extend(more.items)
        arguments.complete &= isinstance(more, Sequence) and more.complete
    for keyword in node.keywords:
        value = engine.evaluate(keyword.value, scope)
        if keyword.arg is not None:
            arguments.keywords[keyword.arg] = value
            continue
        if isinstance(value.data, Table):
            arguments.keywords.update(
                {name: engine.resolve(part) for name, part in value.data.parts.items()}
            )
        arguments.complete &= isinstance(value.data, Table) and value.data.complete
    return arguments


def call(engine: Engine, callee: Value, arguments: Arguments, site: Site) -> Value:
    data = callee.data
    if engine.configured:
        arguments = with_bindings(engine, callee, arguments, site)
    if isinstance(data, LocalFunction):
        return engine.invoke(data, arguments, site)
    if isinstance(data, LocalClass):
        return engine.instantiate(callee, arguments, site)
    if isinstance(data, Dotted):
        return call_library(engine, data.name, arguments, site)
    if isinstance(data, Member):
        return _call_member(engine, data, arguments, site)
    if isinstance(data, Partial):
        merged = Arguments(
            [*data.positional, *arguments.positional],
            {**data.keywords, **arguments.keywords},
            arguments.complete,
        )
        return engine.call(data.function, merged, site)
    if isinstance(data, Table) and data.of is not None:
        return _call_instance(engine, callee, data.of, arguments, site)
    if data is True:
        return callee
    kind = _kind(callee)
    name = f"{kind}.__call__" if isinstance(data, LibraryObject) else kind
    return call_library(engine, name, arguments, site, callee)


def call_library(
    engine: Engine, name: str, arguments: Arguments, site: Site, receiver: Value | None = None
) -> Value:
    """A model knows best, then what Python or the library is known to do; others are noted."""
    if name in engine.models:
        return record(engine, name, arguments, site, receiver=receiver)
    native = NATIVES.get(name) or engine.libraries.functions.get(name)
    if native is not None:
        try:
            found = native(engine, arguments, site)
        except OverflowError:  # a number that Python's own function does not take
            return UNKNOWN
        if found is not None:
            return found
    return record(engine, name, arguments, site, receiver=receiver)


def _call_member(engine: Engine, member: Member, arguments: Arguments, site: Site) -> Value:
    receiver = member.receiver
    if isinstance(receiver.data, Super):
        return engine.call_super(receiver.data, member.name, arguments, site)
    name = f"{_kind(receiver)}.{member.name}"
    if name not in engine.models:
        native = NATIVE_METHODS.get(member.name) or engine.libraries.methods.get(member.name)
        try:
            found = None if native is None else native(engine, receiver, arguments, site)
        except OverflowError:
            return UNKNOWN
        if found is not None:
            return found
    result = call_library(engine, name, arguments, site, receiver)
    return receiver if member.name in _RETURN_SELF and _is_object(receiver) else result


def _is_object(receiver: Value) -> bool:
    return isinstance(receiver.data, (LibraryObject, Table)) or not receiver.known


def _call_instance(
    engine: Engine, instance: Value, cls: LocalClass, arguments: Arguments, site: Site
) -> Value:
    for name in ("__call__",) if engine.budget.thrifty else ("__call__", "forward", "call"):
        method = engine.lookup_class(cls, name)
        if method is not None and isinstance(method.data, LocalFunction):
            return engine.call(engine.attribute(instance, name, site), arguments, site)
    return record(engine, f"{_kind(instance)}.__call__", arguments, site, receiver=instance)


def _kind(value: Value) -> str:
    data = value.data
    if isinstance(data, LibraryObject):
        return data.kind
    if isinstance(data, Table):
        return library_base(data.of) or data.kind
    if isinstance(data, Dotted):
        return data.name
    if isinstance(data, Member):
        return f"{_kind(data.receiver)}.{data.name}"
    if isinstance(data, str):
        return "str"
    return "list" if isinstance(data, Sequence) else "?"


def _asked(engine: Engine, model: CallModel, call: Call, site: Site) -> Value | None:
    engine.budget.look_at_the_clock()
    kept, engine.asking = engine.asking, site
    try:
        return model(call, engine.context)
    finally:
        engine.asking = kept


def library_base(cls: LocalClass | None) -> str:
    """The nearest library class that a class of the job comes from."""
    for base in cls.bases if cls else ():
        if isinstance(base.data, Dotted) and base.data.name not in ("object", "abc.ABC"):
            return base.data.name
        if isinstance(base.data, LocalClass) and library_base(base.data):
            return library_base(base.data)
    return ""


def record(
    engine: Engine, callee: str, arguments: Arguments, site: Site, receiver: Value | None = None
) -> Value:
    """Note a call that is not interpreted, and ask its model, if there is one, what it returns."""
    call = Call(
        callee=callee[:_MAX_CALLEE],
        positional=tuple(arguments.positional),
        keywords=arguments.keywords,
        line=site.line,
        reached=engine.state.reached,
        if_there=engine.state.if_there,
        depth=site.scope.file.depth,
        target=engine.state.target,
        receiver=receiver,
        within=engine.state.within,
        every=engine.state.every,
        loops=engine.state.loops,
    )
    if len(engine.trace.calls) < engine.budget.limits.records:
        engine.trace.calls.append(call)
    model = engine.models.get(callee)
    found = None if model is None else _asked(engine, model, call, site)
    return found if found is not None else Value(LibraryObject(call), (call.line,))

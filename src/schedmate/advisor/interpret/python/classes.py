"""The job's own classes: defined, instantiated, looked up."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.calls import library_base, record
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Flow, Site
from schedmate.advisor.interpret.python.fields import (
    all_fields,
    enum_member,
    fill_fields,
    has_fields,
    is_enum,
    lineage,
    makes_constructor,
)
from schedmate.advisor.interpret.python.functions import as_given, bind_decorated, bound_method
from schedmate.advisor.interpret.python.references import Super
from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.trace import Instance
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Dotted,
    LocalClass,
    LocalFunction,
    Table,
    Value,
)
from schedmate.model import Evidence

_DICTS = ("dict", "OrderedDict", "UserDict", "defaultdict", "TypedDict")


def define_class(engine: Engine, node: ast.ClassDef, scope: Scope) -> Flow:
    decorators = tuple(engine.evaluate(part, scope) for part in node.decorator_list)
    bases = tuple(engine.evaluate(part, scope) for part in node.bases)
    body = scope.inner("class")
    body.names["__qualname__"] = Value(node.name)
    kept, engine.state.within = engine.state.within, node.name
    engine.execute(node.body, body)
    engine.state.within = kept
    annotations = {
        part.target.id: part.annotation
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    }
    del body.names["__qualname__"]
    cls = LocalClass(
        name=node.name,
        bases=bases,
        parts=body.names,
        fields=tuple(annotations),
        home=scope,
        line=scope.file.line(node),
        decorators=decorators,
        annotations=annotations,
    )
    for part in cls.parts.values():
        if isinstance(part.data, LocalFunction):
            part.data.owner = part.data.owner or cls
    if is_enum(cls):
        _make_members(cls)
    engine.trace.classes.append(cls)
    value = Value(cls, (cls.line,))
    bind_decorated(engine, value, decorators, Site(scope, node), node.name)
    return Flow.NEXT


def _make_members(cls: LocalClass) -> None:
    for name, value in list(cls.parts.items()):
        if not name.startswith("_") and not isinstance(value.data, LocalFunction):
            cls.parts[name] = enum_member(cls, name, value)


def lookup_class(engine: Engine, cls: LocalClass, name: str) -> Value | None:
    for each in lineage(cls):
        if name in each.parts:
            return engine.resolve(each.parts[name])
    return None


def instantiate(engine: Engine, callee: Value, arguments: Arguments, site: Site) -> Value:
    cls: LocalClass = callee.data
    if is_enum(cls):
        return _enum_by_value(engine, cls, arguments)
    base = library_base(cls)
    table = Table({}, cls.name, complete=not base, of=cls)
    instance = Value(table, (site.line,))
    engine.instances[id(cls)] = instance
    if base.rpartition(".")[2] in _DICTS:
        _fill_dict(engine, table, arguments)
    init = lookup_class(engine, cls, "__init__")
    if init is not None and isinstance(init.data, LocalFunction):
        method: LocalFunction = bound_method(init.data, instance).data
        _note(engine, instance, as_given(method, arguments), callee.lines, site)
        engine.invoke(method, arguments, site)
        return instance
    _note(engine, instance, _by_fields(cls, arguments), callee.lines, site)
    if has_fields(cls):
        fill_fields(engine, instance, arguments, site)
    if base and not makes_constructor(cls):
        found = record(engine, base, arguments, site, receiver=instance)
        return found if base in engine.models else instance
    return instance


def _by_fields(cls: LocalClass, arguments: Arguments) -> dict[str, Value]:
    fields = all_fields(cls)
    given = dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
    defaults = {name: each for name, each in fields.items() if each is not None and each.plain}
    return {**(defaults if arguments.complete else {}), **given}


def _note(
    engine: Engine,
    instance: Value,
    given: dict[str, Value],
    named: tuple[Evidence, ...],
    site: Site,
) -> None:
    if len(engine.trace.instances) >= engine.budget.limits.records:
        return
    engine.trace.instances.append(
        Instance(
            of=instance.data.of,
            value=instance,
            arguments=given,
            line=site.line,
            named=named,
            reached=engine.state.reached,
            depth=site.scope.file.depth,
            target=engine.state.target,
            within=engine.state.within,
        )
    )


def _fill_dict(engine: Engine, table: Table, arguments: Arguments) -> None:
    table.complete = arguments.complete
    for value in arguments.positional:
        if isinstance(value.data, Table):
            table.parts.update(value.data.parts)
        table.complete &= isinstance(value.data, Table) and value.data.complete
    table.parts.update(arguments.keywords)


def _enum_by_value(engine: Engine, cls: LocalClass, arguments: Arguments) -> Value:
    wanted = arguments.positional[0] if arguments.positional else UNKNOWN
    for member in cls.parts.values():
        data = member.data
        is_member = isinstance(data, Table) and data.kind == "enum" and wanted.plain
        if is_member and data.parts["value"].data == wanted.data:
            return Value(data, wanted.lines, wanted.source)
    return wanted if isinstance(wanted.data, Table) else UNKNOWN


def call_super(engine: Engine, above: Super, name: str, arguments: Arguments, site: Site) -> Value:
    """The next class in line that has the method; a library's is noted with the instance."""
    line = [base.data for base in above.above.bases if isinstance(base.data, LocalClass)]
    for cls in line:
        method = lookup_class(engine, cls, name)
        if method is not None and isinstance(method.data, LocalFunction):
            return engine.invoke(bound_method(method.data, above.instance).data, arguments, site)
    if name == "__setattr__" and len(arguments.positional) > 1:
        part, new = arguments.positional[:2]
        engine.set_attribute(above.instance, str(part.data), new, site)
        return Value(None)
    if name == "__init__" and isinstance(above.instance.data, Table):
        _init_of_library(engine, above, arguments, site)
    base = library_base(above.above)
    if not base:
        return UNKNOWN
    callee = base if name == "__init__" else f"{base}.{name}"
    return record(engine, callee, arguments, site, receiver=above.instance)


def _init_of_library(engine: Engine, above: Super, arguments: Arguments, site: Site) -> None:
    table = above.instance.data
    for cls in lineage(above.above)[1:]:
        if has_fields(cls):
            fill_fields(engine, above.instance, arguments, site)
            return
    if any(isinstance(b.data, Dotted) and b.data.name.endswith(_DICTS) for b in above.above.bases):
        _fill_dict(engine, table, arguments)

"""Code that no line is seen to call, because a library does: interpreted last."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.budget import JobRaises
from schedmate.advisor.interpret.python.classes import lookup_class
from schedmate.advisor.interpret.python.engine import Arguments, Engine, Site
from schedmate.advisor.interpret.python.fields import lineage
from schedmate.advisor.interpret.python.functions import bound_method
from schedmate.advisor.interpret.python.parsed import kept_with_tree
from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.values import LocalClass, LocalFunction, Table, Value

_FIRST = [
    "configure_optimizers",
    "train_dataloader",
    "setup",
    "training_step",
    "get_train_dataloader",
    "create_optimizer",
    "configure_model",
    "prepare_data",
    "build_optimizer",
    "main",
    "train",
    "fit",
    "run",
]
_LAST = ("forward", "call", "__call__", "__getitem__", "__len__", "__repr__", "validation_step")
_MAX_DEPTH = 1


def interpret_uncalled(engine: Engine) -> None:
    engine.options_stated = frozenset(option.name for option in engine.trace.options)
    for function in sorted(engine.functions, key=_order)[:1000]:
        if function.node in engine.state.interpreted or not _worth(engine, function):
            continue
        with engine.uncertain(_reached(function)), engine.memory.outside():
            _interpret(engine, function)


def _reached(function: LocalFunction) -> Reached:
    """A function that a module calls only where it is started itself is of another program."""
    file = function.home.file
    of_another = file.depth > 0 and function.name in _called_when_started(file.tree)
    return Reached.ANOTHER_PROGRAM if of_another else Reached.UNCALLED


@kept_with_tree
def _called_when_started(tree: ast.Module) -> frozenset[str]:
    """The functions that are called below `if __name__ == "__main__"`."""
    guarded = [node for node in tree.body if isinstance(node, ast.If) and _is_guard(node.test)]
    calls = (part for node in guarded for part in ast.walk(node) if isinstance(part, ast.Call))
    return frozenset(call.func.id for call in calls if isinstance(call.func, ast.Name))


def _is_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and ast.unparse(test.left) == "__name__"


def _order(function: LocalFunction) -> tuple[int, int]:
    name = function.name.rpartition(".")[2]
    rank = _FIRST.index(name) if name in _FIRST else len(_FIRST) + (name in _LAST)
    return rank, function.home.file.depth


def _worth(engine: Engine, function: LocalFunction) -> bool:
    """Near the entry point, or a method of something that was made."""
    if function.owner is not None and id(function.owner) in engine.instances:
        return True
    return bool(function.home.file.depth <= _MAX_DEPTH)


def _interpret(engine: Engine, function: LocalFunction) -> None:
    site = Site(function.home, function.node)
    value = Value(function)
    if function.owner is not None:
        value = bound_method(
            function, _instance(engine, function.owner, site), Value(function.owner)
        )
    try:
        engine.call(value, Arguments(), site)
    except (JobRaises, RecursionError):
        return


def _instance(engine: Engine, cls: LocalClass, site: Site) -> Value:
    """One that was made, of the class or of one that comes from it; else one made of defaults."""
    known = engine.instances.get(id(cls))
    if known is None:
        known = next(
            (
                each
                for each in engine.instances.values()
                if isinstance(each.data, Table) and each.data.of and _comes_from(each.data.of, cls)
            ),
            None,
        )
    if known is not None:
        return known
    instance = Value(Table({}, cls.name, complete=False, of=cls))
    engine.instances[id(cls)] = instance
    init = lookup_class(engine, cls, "__init__")
    if init is not None and isinstance(init.data, LocalFunction):
        _interpret_init(engine, init.data, instance, site)
    return instance


def _interpret_init(engine: Engine, init: LocalFunction, instance: Value, site: Site) -> None:
    try:
        engine.call(bound_method(init, instance), Arguments(), site)
    except (JobRaises, RecursionError):
        return


def _comes_from(one: LocalClass, other: LocalClass) -> bool:
    return other in lineage(one)

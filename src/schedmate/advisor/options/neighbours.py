"""What else a module defines: the commands of a group stand beside it."""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.interpret.python.scope import Scope
from schedmate.advisor.interpret.python.values import LibraryObject, LocalFunction, Value


def neighbours(function: LocalFunction) -> Iterator[LocalFunction]:
    """The functions of the same module."""
    home = function.home
    names = home.globals.names if isinstance(home, Scope) else {}
    for value in list(names.values()):
        if isinstance(value.data, LocalFunction):
            yield value.data


def decorator_name(decorator: Value) -> str:
    """`click.option` of `@click.option(…)`."""
    return decorator.data.kind if isinstance(decorator.data, LibraryObject) else ""

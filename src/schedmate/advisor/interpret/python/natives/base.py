"""The shape of a native, and what most of them need."""

from __future__ import annotations

from schedmate.advisor.interpret.python.engine import Arguments, Engine, NativeMethod, Site
from schedmate.advisor.interpret.python.values import Value

MAX_ITEMS = 2_000
MAX_TEXT = 20_000


def first(arguments: Arguments) -> Value | None:
    return arguments.positional[0] if arguments.positional else None


def all_plain(arguments: Arguments) -> bool:
    values = (*arguments.positional, *arguments.keywords.values())
    return arguments.complete and all(value.plain for value in values)


def either_of(*methods: NativeMethod) -> NativeMethod:
    """The first of several methods of the same name that has an answer."""

    def asked(engine: Engine, receiver: Value, arguments: Arguments, site: Site) -> Value | None:
        for method in methods:
            found = method(engine, receiver, arguments, site)
            if found is not None:
                return found
        return None

    return asked

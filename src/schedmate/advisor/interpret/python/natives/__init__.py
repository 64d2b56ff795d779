"""What Python itself and its standard library return, as far as reading tells.

A native returns None where it cannot tell: then the call is noted like any other.
"""

from schedmate.advisor.interpret.python.engine import Native, NativeMethod
from schedmate.advisor.interpret.python.natives.base import either_of
from schedmate.advisor.interpret.python.natives.builtin import BUILTINS, NUMBERS
from schedmate.advisor.interpret.python.natives.containers import CONTAINER_METHODS
from schedmate.advisor.interpret.python.natives.introspection import (
    INTROSPECTION,
    INTROSPECTION_METHODS,
)
from schedmate.advisor.interpret.python.natives.paths import PATH_METHODS, PATHS
from schedmate.advisor.interpret.python.natives.reading import READING, READING_METHODS
from schedmate.advisor.interpret.python.natives.text import TEXT_METHODS

NATIVES: dict[str, Native] = {
    **BUILTINS,
    **NUMBERS,
    **PATHS,
    **INTROSPECTION,
    **READING,
}

NATIVE_METHODS: dict[str, NativeMethod] = {}
for _family in (
    TEXT_METHODS,
    CONTAINER_METHODS,
    PATH_METHODS,
    READING_METHODS,
    INTROSPECTION_METHODS,
):
    for _name, _method in _family.items():
        _known = NATIVE_METHODS.get(_name)
        NATIVE_METHODS[_name] = _method if _known is None else either_of(_known, _method)

"""What a class's annotations tell of its fields' types, where no default does."""

from __future__ import annotations

import ast

from schedmate.advisor.interpret.python.values import LocalClass, Sequence, Value

_LISTS = {"list", "List", "tuple", "Tuple", "Sequence", "Iterable"}
_MAX_BASES = 20


def annotated(cls: LocalClass, depth: int = 0) -> dict[str, Value]:
    """For each field an example of its type; nothing for types that have none."""
    found: dict[str, Value] = {}
    for base in reversed(cls.bases):
        if isinstance(base.data, LocalClass) and depth < _MAX_BASES:
            found |= annotated(base.data, depth + 1)
    for name, annotation in cls.annotations.items():
        example = _example(annotation)
        if example is not None:
            found[name] = example
    return found


def _example(annotation: ast.expr) -> Value | None:
    names = {part.id for part in ast.walk(annotation) if isinstance(part, ast.Name)}
    names |= {part.attr for part in ast.walk(annotation) if isinstance(part, ast.Attribute)}
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        names |= {annotation.value}
    if names & _LISTS:
        return Value(Sequence([]))
    if "bool" in names and "str" not in names:
        return Value(False)
    return Value("") if "str" in names and not names & {"int", "float", "bool"} else None

"""Our values with what looks like a secret replaced in every text that they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from schedmate.model.diagnosis import Diagnosis
from schedmate.model.key_blocks import masked_quotes, may_be_of_a_key
from schedmate.model.redaction import MARK, redact
from schedmate.model.workload import Evidence

T = TypeVar("T")
_OPENED = frozenset({"workdir", "script", "logs", "file", "log"})
"""Fields with the names of files, which are opened by them."""
_PLAIN = frozenset({type(None), bool, int, float})
_SHORT = 200
"""Characters of a text that is worth being remembered."""
_names: dict[type[Any], tuple[str, ...]] = {}


def masked(value: T) -> T:
    """The same value where it holds no secret."""
    found: Any = _masked(value)
    return found  # type: ignore[no-any-return] # of the same type


def _masked(value: Any) -> Any:
    if type(value) in _PLAIN:  # by far the most, and cheaper to tell than what follows
        return value
    if type(value) in _names:
        return _dataclass(value)
    match value:
        case str():
            return value if len(value) <= _SHORT and _is_clean(value) else redact(value)
        case list() | tuple():
            return _sequence(value) if value else value
        case Mapping():
            return _mapping(value) if value else value
    return _dataclass(value) if is_dataclass(value) else value


@lru_cache(maxsize=4096)
def _is_clean(text: str) -> bool:
    """Names, nodes and lines of code are the same in many jobs."""
    return redact(text) == text


def _sequence(value: list[Any] | tuple[Any, ...]) -> Any:
    clean = [_masked(one) for one in (_quotes(value) if type(value[0]) is Evidence else value)]
    for place, (before, one) in enumerate(pairwise(value), 1):
        if isinstance(before, str) and isinstance(one, str):  # `--password`, `hunter2`
            clean[place] = _after(before, one, clean[place])
    if all(new is old for new, old in zip(clean, value, strict=True)):
        return value
    if isinstance(value, list):
        return clean
    return type(value)(*clean) if hasattr(value, "_fields") else tuple(clean)


def _quotes(lines: Sequence[Evidence]) -> Sequence[Evidence]:
    """A key spans lines: those of a file are looked at together."""
    if not any(may_be_of_a_key(line.text) for line in lines):
        return lines
    clean: dict[tuple[str, int, str], str] = {}
    for file in {line.file for line in lines}:
        quoted = sorted({(line.line, line.text) for line in lines if line.file == file})
        shown = masked_quotes([text for _, text in quoted])
        clean |= {(file, *one): text for one, text in zip(quoted, shown, strict=True)}
    texts = [clean[line.file, line.line, line.text] for line in lines]
    return [
        line if text == line.text else replace(line, text=text)
        for line, text in zip(lines, texts, strict=True)
    ]


def _after(before: str, word: str, clean: str) -> str:
    """A word as it is to be shown behind another one, such as an option that it is the value of."""
    both = f"{before} {word}"
    shown = redact(both)
    if shown == both or not shown.startswith(f"{before} "):
        return clean
    return redact(shown.removeprefix(f"{before} "))


def _mapping(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    clean = {_masked(name): _masked(one) for name, one in value.items()}
    same = all(clean.get(name, value) is one for name, one in value.items())
    return value if same else clean


def _dataclass(value: Any) -> Any:
    changed = {}
    for name in _texts(type(value)):
        old = getattr(value, name)
        new = _masked(old)
        if new is not old:
            changed[name] = new
    if "evidence" in changed and isinstance(value, Diagnosis):
        changed |= _words(value, changed)
    return replace(value, **changed) if changed else value


def _words(value: Diagnosis, changed: dict[str, Any]) -> dict[str, str]:
    """Of a diagnosis, without the quoted lines that are masked as a whole: it repeats them."""
    pairs = zip(value.evidence, changed["evidence"], strict=True)
    hidden = [old.text.strip() for old, new in pairs if new.text == MARK != old.text]
    words = {name: changed.get(name, getattr(value, name)) for name in ("summary", "suggestion")}
    for text in filter(None, hidden):
        words = {name: one.replace(text, MARK) for name, one in words.items()}
    return words


def _texts(kind: type[Any]) -> tuple[str, ...]:
    known = _names.get(kind)
    if known is None:
        stated = (one.name for one in fields(kind) if one.init)
        known = _names[kind] = tuple(name for name in stated if name not in _OPENED)
    return known

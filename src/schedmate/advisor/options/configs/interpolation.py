"""OmegaConf's `${…}`: names of other settings, and resolvers whose result reading can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Sequence, Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs.building import MAX_DEPTH, MAX_NODES, value_of
from schedmate.advisor.options.configs.merging import select, steps
from schedmate.advisor.options.configs.override_text import primitive

_MAX_HOPS = 24
_MISSING = "???"
"""OmegaConf's word for a value that is still missing."""
_SET_BY_OTHERS = frozenset(
    {"HOME", "USER", "PWD", "PATH", "HOSTNAME", "TMPDIR", "SHELL", "LOGNAME"}
)
_SET_BY_LAUNCHERS = (
    "SLURM_",
    "PBS_",
    "LSB_",
    "CUDA_",
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "MASTER_",
)


def resolve(config: Value, environment: Mapping[str, Word]) -> Value:
    """The config with every `${…}` replaced; what only running would tell is unknown."""
    return _Resolver(config, environment).everything(config, ())


@dataclass(slots=True)
class _Budget:
    left: int = 2 * MAX_NODES

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


class _Resolver:
    def __init__(self, root: Value, environment: Mapping[str, Word]) -> None:
        self._root = root
        self._environment = environment
        self._budget = _Budget()

    def everything(self, value: Value, path: tuple[str, ...], hops: int = 0) -> Value:
        data = value.data
        if isinstance(data, str) and "${" in data:
            return self._text(value, path, hops)
        if data == _MISSING:
            return Value(UNKNOWN_DATA, value.lines, value.source)
        if not isinstance(data, (Table, Sequence)):
            return value
        if len(path) > MAX_DEPTH or not self._budget.spend():
            return Value(UNKNOWN_DATA, value.lines, value.source)
        new: Table | Sequence
        if isinstance(data, Table):
            parts = {
                name: self.everything(part, (*path, name), hops)
                for name, part in data.parts.items()
            }
            new = Table(parts, data.kind, data.complete)
        else:
            items = [
                self.everything(item, (*path, str(place)), hops)
                for place, item in enumerate(data.items)
            ]
            new = Sequence(items, data.complete)
        return Value(new, value.lines, value.source)

    def _text(self, value: Value, path: tuple[str, ...], hops: int) -> Value:
        """A lone `${x}` is x itself; amid other text it becomes part of the text."""
        unknown = Value(UNKNOWN_DATA, value.lines, value.source)
        spans = _pieces(value.data)
        if spans is None or hops > _MAX_HOPS or not self._budget.spend():
            return unknown
        found = [
            self._inner(span, value, path, hops) if inside else Value(span, value.lines)
            for inside, span in spans
        ]
        if len(found) == 1:
            return found[0]
        if not all(each.known and each.plain for each in found):
            return unknown
        text = "".join(_as_text(each) for each in found)
        others = (line for each in found for line in each.lines)
        return Value(text, tuple(dict.fromkeys((*value.lines, *others))), value.source)

    def _inner(self, text: str, value: Value, path: tuple[str, ...], hops: int) -> Value:
        unknown = Value(UNKNOWN_DATA, value.lines, value.source)
        if "${" in text:
            inner = self._text(Value(text, value.lines, value.source), path, hops + 1)
            if not isinstance(inner.data, str):
                return unknown
            text = inner.data
        name, colon, rest = text.partition(":")
        found = self._resolver(name, rest, hops) if colon else self._named(text, path, hops)
        if found is None or not found.known:
            return unknown
        lines = tuple(dict.fromkeys((*found.lines, *value.lines)))
        return Value(found.data, lines, found.source)

    def _named(self, text: str, path: tuple[str, ...], hops: int) -> Value | None:
        """`a.b` from the top; `.b` beside the setting, `..b` one above that."""
        name = text.strip()
        up = len(name) - len(name.lstrip("."))
        above = path[: len(path) - up] if up else ()
        full = (*above, *steps(name[up:]))
        if up > len(path) or full == path or full == path[: len(full)]:
            return None
        found = select(self._root, ".".join(full))
        return None if found is None else self.everything(found, full, hops + 1)

    def _resolver(self, name: str, rest: str, hops: int) -> Value | None:
        first, comma, default = (part.strip() for part in rest.partition(","))
        if name in ("oc.env", "env"):
            return self._variable(first, default if comma else None)
        if name == "oc.select":
            found = self._named(first, (), hops)
            return Value(primitive(_unquoted(default))) if found is None and comma else found
        return None

    def _variable(self, name: str, default: str | None) -> Value | None:
        """The default of a variable that the script does not set is what the job states."""
        word = self._environment.get(name)
        if word is not None:
            return value_of(word)
        if default is None or name in _SET_BY_OTHERS or name.startswith(_SET_BY_LAUNCHERS):
            return None
        text = _unquoted(default)
        return Value(None if text == "null" else text, (), "config")


def _pieces(text: str) -> list[tuple[bool, str]] | None:
    """Text and what stands in `${…}` (True), in order; None where braces do not match."""
    spans: list[tuple[bool, str]] = []
    at = 0
    while (start := text.find("${", at)) >= 0:
        end = _end_of(text, start + 2)
        if end is None or text[max(start - 1, 0) : start] == "\\":
            return None
        if start > at:
            spans.append((False, text[at:start]))
        spans.append((True, text[start + 2 : end]))
        at = end + 1
    if at < len(text):
        spans.append((False, text[at:]))
    return spans


def _end_of(text: str, at: int) -> int | None:
    depth = 1
    for place in range(at, min(len(text), at + 2000)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return place
    return None


def _as_text(value: Value) -> str:
    return "null" if value.data is None else str(value.data)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text

"""YAML as values, put together from the parser's events: no object is ever constructed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Sequence, Table, Value
from schedmate.advisor.options.configs.building import MAX_DEPTH, MAX_NODES, Builder, number, plain

_CORE = "tag:yaml.org,2002:"
_PLAIN_TAGS = {None, "!", *(f"{_CORE}{name}" for name in ("str", "int", "float", "bool", "null"))}
_LIST_TAGS = {None, "!", f"{_CORE}seq", f"{_CORE}python/tuple", f"{_CORE}python/list"}
_HEADER = 512
"""As far as hydra looks for its directives."""
_DICT_TAGS = {None, "!", f"{_CORE}map", f"{_CORE}python/dict"}


def read(text: str, builder: Builder) -> Value | None:
    """The first document. An empty one is an empty table; a lone word is no config."""
    root = _first_document(text, builder)
    if root is not None and isinstance(root.data, (Table, Sequence)):
        return builder.value(root.data, _directive(text))
    empty = root is not None and root.data is None
    return builder.value(Table(), _directive(text)) if empty else None


def _directive(text: str) -> int:
    """The line that the whole config is shown with: hydra's `# @package x`, which is a comment
    to YAML but says where the config belongs; else the first.
    """
    for place, line in enumerate(text[:_HEADER].splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            break
        if line.lstrip("# ").startswith("@package"):
            return place
    return 1


def flow(text: str, builder: Builder) -> Value | None:
    """What stands on a command line, where a lone word is a value too: `[1, 2]`, `3e-4`."""
    return _first_document(text, builder)


def _first_document(text: str, builder: Builder) -> Value | None:
    import yaml  # noqa: PLC0415 - most verbs read no YAML

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = iter(yaml.parse(text, Loader=loader))
        composed = _Composer(events, builder).document()
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return builder.value(None, 1) if composed is None else composed


@dataclass(frozen=True, slots=True)
class _Node:
    """A value, and how many it is with all that its aliases stand for."""

    value: Value
    size: int


class _TooDeepError(ValueError):
    pass


class _Composer:
    """Aliases are shared, not copied, but count as if they were copied: what walks the
    value later will walk them all.
    """

    def __init__(self, events: Iterator[Any], builder: Builder) -> None:
        self._events = events
        self._builder = builder
        self._anchors: dict[str, _Node] = {}
        self._depth = 0
        self._room_for_aliases = MAX_NODES

    def document(self) -> Value | None:
        for event in self._events:
            kind = type(event).__name__
            if kind in ("StreamStartEvent", "DocumentStartEvent"):
                continue
            return None if kind == "StreamEndEvent" else self._node(event, _line(event)).value
        return None

    def _node(self, event: Any, line: int) -> _Node:
        """`line` is where the key stands that it belongs to, or the node itself."""
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self._alias(event)
        if not self._builder.spend():
            return _Node(self._builder.unknown(line), 1)
        if kind == "ScalarEvent":
            node = _Node(self._scalar(event), 1)
        elif self._depth >= MAX_DEPTH:
            raise _TooDeepError
        else:
            self._depth += 1
            node = self._sequence(event, line) if "Seq" in kind else self._mapping(event, line)
            self._depth -= 1
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any) -> _Node:
        """Unknown where it stands inside of what it names, or for more than there is room for."""
        named = self._anchors.get(event.anchor)
        line = _line(event)
        if named is None or named.size > self._room_for_aliases:
            return _Node(self._builder.unknown(line), 1)
        self._room_for_aliases -= named.size
        value = named.value
        if value.plain:
            value = Value(value.data, (*value.lines[:1], self._builder.line(line)), value.source)
        return _Node(value, named.size)

    def _scalar(self, event: Any) -> Value:
        line = _line(event)
        if event.tag not in _PLAIN_TAGS:
            return self._builder.unknown(line)
        if event.tag is None or event.tag == "!":
            data = plain(event.value) if event.implicit[0] else event.value
            return self._builder.value(data, line)
        return self._builder.value(_as_tagged(event.tag, event.value), line)

    def _sequence(self, event: Any, line: int) -> _Node:
        items: list[Value] = []
        size = 1
        for item in self._events:
            if type(item).__name__ == "SequenceEndEvent":
                break
            node = self._node(item, _line(item))
            items.append(node.value)
            size += node.size
            if self._builder.exhausted:
                break
        complete = not self._builder.exhausted
        data = Sequence(items, complete) if event.tag in _LIST_TAGS else UNKNOWN_DATA
        return _Node(self._builder.value(data, line), size)

    def _mapping(self, event: Any, line: int) -> _Node:
        parts: dict[str, Value] = {}
        merged: list[Value] = []
        size = 1
        for key in self._events:
            if type(key).__name__ == "MappingEndEvent":
                break
            name, cost = self._key(key)
            node = self._node(next(self._events), _line(key))
            size += cost + node.size
            if name == "<<" and key.implicit[0]:
                merged.append(node.value)
            elif name is not None:
                parts[name] = node.value
            if self._builder.exhausted:
                break
        table = _with_merged(parts, merged)
        table.complete &= not self._builder.exhausted
        return _Node(
            self._builder.value(table if event.tag in _DICT_TAGS else UNKNOWN_DATA, line), size
        )

    def _key(self, event: Any) -> tuple[str | None, int]:
        """None for a key that is itself a collection or an alias: no reader looks for such."""
        if type(event).__name__ == "ScalarEvent":
            self._node(event, _line(event))
            return event.value, 0
        return None, self._node(event, _line(event)).size


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _as_tagged(tag: str, text: str) -> Any:
    name = tag.removeprefix(_CORE)
    if name == "str":
        return text
    if name == "float":
        found = number(text)
        return UNKNOWN_DATA if found is None else float(found)
    return plain(text)


def _with_merged(parts: dict[str, Value], merged: list[Value]) -> Table:
    """What `<<` brings counts less than what stands here; of several the first counts most."""
    table = Table({})
    sources = [
        source
        for value in merged
        for source in (value.data.items if isinstance(value.data, Sequence) else [value])
    ]
    for source in reversed(sources):
        if isinstance(source.data, Table):
            table.parts |= source.data.parts
        else:
            table.complete = False
    table.parts |= parts
    return table

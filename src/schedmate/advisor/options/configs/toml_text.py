"""TOML as values: tomllib says what is there, a scan of the lines says where."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Sequence, Table, Value
from schedmate.advisor.options.configs.building import MAX_DEPTH, Builder

_MAX_LINES = 20_000
_MAX_HEADER = 400
"""A lock file is no config, and a name of a thousand parts is an attack on the parser."""
_KEY = re.compile(r"""[ \t]*([A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*""")
_TOKEN = re.compile(r"""\"{3}|'{3}|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|[][{}]|#[^\n]*""")

Path = tuple[str, ...]


def read(text: str, builder: Builder) -> Value | None:
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) > _MAX_LINES or any(_suspicious(line) for line in lines):
        return None
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None
    return _built(data, (), 1, _Tree(builder, _places(lines)))


def _suspicious(line: str) -> bool:
    if line.lstrip().startswith("["):
        return len(line) > _MAX_HEADER and "=" not in line and "," not in line
    return line.split("=", 1)[0].count(".") > MAX_DEPTH and not line.lstrip().startswith("#")


class _Tree:
    def __init__(self, builder: Builder, places: dict[Path, int]) -> None:
        self.builder = builder
        self.places = places


def _built(data: Any, path: Path, line: int, tree: _Tree) -> Value:
    line = tree.places.get(path, line)
    if not tree.builder.spend() or len(path) > MAX_DEPTH:
        return tree.builder.unknown(line)
    if isinstance(data, dict):
        parts = {key: _built(each, (*path, key), line, tree) for key, each in data.items()}
        return tree.builder.value(Table(parts, complete=not tree.builder.exhausted), line)
    if isinstance(data, list):
        items = [_built(each, (*path, str(i)), line, tree) for i, each in enumerate(data)]
        return tree.builder.value(Sequence(items, not tree.builder.exhausted), line)
    if data is None or isinstance(data, (str, int, float)):
        return tree.builder.value(data, line)
    return tree.builder.value(str(data) if hasattr(data, "isoformat") else UNKNOWN_DATA, line)


def _places(lines: list[str]) -> dict[Path, int]:
    places: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    for number, line in _statements(lines):
        if line.startswith("["):
            table = _header(line, counts)
            places.setdefault(table, number)
            continue
        path: Path = table
        for part in _keys(line):
            path = (*path, part)
            places.setdefault(path, number)
    return places


def _header(line: str, counts: dict[Path, int]) -> Path:
    """`[[a.b]]` opens the next item of a list; a header below it belongs to the last item."""
    many = line.startswith("[[")
    path: Path = ()
    keys = list(_keys(line.lstrip("[")))
    for place, key in enumerate(keys):
        path = (*path, key)
        if many and place == len(keys) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, str(counts[path]))
    return path


def _keys(line: str) -> Iterator[str]:
    """The parts of a dotted key at the start of a line."""
    at = 0
    while (match := _KEY.match(line, at)) is not None:
        yield match[1].strip("\"'")
        at = match.end()
        if line[at : at + 1] != ".":
            return
        at += 1


def _statements(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines on which a key or a header starts, not those inside of a list or a long string."""
    depth = 0
    quotes = ""
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        inside = depth > 0 or bool(quotes)
        if not inside and bare and not bare.startswith("#"):
            yield number, bare
        if inside or not bare.startswith("["):
            depth, quotes = _left_open(line, depth, quotes)


def _left_open(line: str, depth: int, quotes: str) -> tuple[int, str]:
    at = 0
    while True:
        if quotes:
            end = line.find(quotes, at)
            if end < 0:
                return depth, quotes
            at, quotes = end + 3, ""
        token = _TOKEN.search(line, at)
        if token is None:
            return max(depth, 0), ""
        at = token.end()
        if token[0] in ('"""', "'''"):
            quotes = token[0]
        elif token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1

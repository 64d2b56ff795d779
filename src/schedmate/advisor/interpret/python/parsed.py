"""Python files as syntax trees; a file that was read before in this process is not parsed again."""

from __future__ import annotations

import ast
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from schedmate.advisor.interpret.python.modules import Module, Unparsable, parse
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence, Source

_MAX_KEPT = 2_000_000
"""Characters of source."""


@dataclass(slots=True, eq=False)
class ParsedFile:
    """`origin` is what its constants count as: a file of settings is a config."""

    source: SourceFile
    tree: ast.Module
    depth: int
    origin: Source = "code"
    problem: Unparsable | None = None
    _lines: list[str] = field(default_factory=list)
    _evidence: dict[int, Evidence] = field(default_factory=dict)

    def line(self, node: ast.AST) -> Evidence:
        number: int = getattr(node, "lineno", 1)
        known = self._evidence.get(number)
        if known is None:
            text = self._lines[number - 1] if number <= len(self._lines) else ""
            known = self._evidence[number] = evidence(self.source.name, number, text)
        return known


_Parsed = tuple[ast.Module, list[str], dict[int, Evidence], Unparsable | None]


class _Recent:
    """Trees take some fifty times the memory of their text, so not many are kept."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[tuple[str, str], _Parsed] = OrderedDict()
        self._sizes: dict[tuple[str, str], int] = {}
        self._lock = Lock()

    def get(self, key: tuple[str, str]) -> _Parsed | None:
        with self._lock:
            known = self._parsed.get(key)
            if known is not None:
                self._parsed.move_to_end(key)
            return known

    def put(self, key: tuple[str, str], parsed: _Parsed, size: int) -> None:
        with self._lock:
            self._parsed[key], self._sizes[key] = parsed, size
            while sum(self._sizes.values()) > _MAX_KEPT:
                oldest, _ = self._parsed.popitem(last=False)
                del self._sizes[oldest]


_recent = _Recent()


def parse_file(source: SourceFile, depth: int, origin: Source = "code") -> ParsedFile | Unparsable:
    key = (source.name, source.digest)
    known = _recent.get(key)
    if known is None:
        module = parse(source, depth)
        if not isinstance(module, Module):
            return module
        known = (module.tree, module.lines, {}, module.problem)
        _recent.put(key, known, len(source.text))
    return ParsedFile(source, known[0], depth, origin, known[3], known[1], known[2])

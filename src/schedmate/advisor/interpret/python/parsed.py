"""Python files as syntax trees, never imported or run.

A file that was read a short while ago in this process is not parsed again.
"""

from __future__ import annotations

import ast
import os
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from schedmate.advisor.interpret.python.other_pythons import in_newer_words, in_older_words
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence, Source

T = TypeVar("T")

_MAX_KEPT = 500_000
"""Characters of source, of which a tree takes some forty times the memory ..."""
_KEPT_S = 300.0
"""... that were read within such a time."""
_NO_FILE = f"{os.devnull}/code"
"""Python opens the file of a syntax error to quote it: one of that name might be anything."""


@dataclass(frozen=True, slots=True)
class Unparsable:
    source: SourceFile
    problem: str
    line: int
    depth: int


@dataclass(slots=True, eq=False)
class ParsedFile:
    """`depth` is 0 for the entry point, 1 for what it imports, and so on. `origin` is what its
    constants count as: a file of settings is a config."""

    source: SourceFile
    tree: ast.Module
    depth: int
    origin: Source = "code"
    problem: Unparsable | None = None
    """Why only a Python of long ago would run it."""
    _lines: list[str] = field(default_factory=list)
    _evidence: dict[int, Evidence] = field(default_factory=dict)

    def line(self, node: ast.AST) -> Evidence:
        number: int = getattr(node, "lineno", 1)
        known = self._evidence.get(number)
        if known is None:
            text = self._lines[number - 1] if number <= len(self._lines) else ""
            known = self._evidence[number] = evidence(self.source.name, number, text)
        return known


def kept_with_tree(find: Callable[[ast.Module], T]) -> Callable[[ast.Module], T]:
    """Find it once for each tree, and let the tree go with all that was found in it."""
    found: WeakKeyDictionary[ast.Module, T] = WeakKeyDictionary()

    def of(tree: ast.Module) -> T:
        if tree not in found:
            found[tree] = find(tree)
        return found[tree]

    return of


_Parsed = tuple[ast.Module, list[str], dict[int, Evidence], Unparsable | None]


@dataclass(slots=True)
class _Kept:
    parsed: _Parsed
    size: int
    used_at: float


class _Recent:
    """What a job's siblings will need next, and little more."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        """Those that were not used for longest first."""
        self._lock = Lock()

    def get(self, key: tuple[str, str]) -> _Parsed | None:
        with self._lock:
            known = self._kept.get(key)
            if known is None:
                return None
            known.used_at = time.monotonic()
            self._kept.move_to_end(key)
            return known.parsed

    def put(self, key: tuple[str, str], parsed: _Parsed, size: int) -> None:
        with self._lock:
            self._kept[key] = _Kept(parsed, size, time.monotonic())
            while sum(each.size for each in self._kept.values()) > _MAX_KEPT:
                self._kept.popitem(last=False)

    def forget_idle(self) -> None:
        since = time.monotonic() - _KEPT_S
        with self._lock:
            while self._kept and next(iter(self._kept.values())).used_at < since:
                self._kept.popitem(last=False)


_recent = _Recent()


def forget_idle_trees() -> None:
    """For a process that reads for months: drop the trees of code that was not needed lately."""
    _recent.forget_idle()


def parse_file(source: SourceFile, depth: int, origin: Source = "code") -> ParsedFile | Unparsable:
    """As the Python that reads would, or a newer one; what only an older one would is read too,
    though it is a problem."""
    key = (source.name, source.digest)
    known = _recent.get(key)
    if known is None:
        parsed = _parse(source, depth)
        if isinstance(parsed, Unparsable):
            return parsed
        known = (parsed[0], source.lines(), {}, parsed[1])
        _recent.put(key, known, len(source.text))
    return ParsedFile(source, known[0], depth, origin, known[3], known[1], known[2])


def _parse(source: SourceFile, depth: int) -> tuple[ast.Module, Unparsable | None] | Unparsable:
    tree = _tree(source.text)
    if isinstance(tree, ast.Module):
        return tree, None
    newer = _tree(in_older_words(source.text))
    if isinstance(newer, ast.Module):
        return newer, None
    problem = Unparsable(source, *tree, depth)
    older = _tree(in_newer_words(source.text))
    return (older, problem) if isinstance(older, ast.Module) else problem


def _tree(text: str | None) -> ast.Module | tuple[str, int]:
    """Or what is wrong, and in which line."""
    if text is None:
        return "", 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, _NO_FILE)
    except SyntaxError as error:
        return error.msg, error.lineno or 1
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "too deeply nested", 1

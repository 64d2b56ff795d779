"""Python files as syntax trees, parsed once, never imported or run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from schedmate.advisor.interpret.python.newer_python import in_older_words
from schedmate.advisor.interpret.python.older_python import in_newer_words
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence

_NO_FILE = f"{os.devnull}/code"
"""Python opens the file of a syntax error to quote it: one of that name might be anything."""


@dataclass(frozen=True, slots=True)
class Module:
    """`depth` is 0 for the entry point, 1 for what it imports, and so on."""

    source: SourceFile
    tree: ast.Module
    lines: list[str]
    depth: int
    problem: Unparsable | None = None
    """Why only a Python of long ago would run it."""

    def evidence(self, node: ast.AST) -> Evidence:
        line = getattr(node, "lineno", 1)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return evidence(self.source.name, line, text)

    def nodes(self) -> Iterator[ast.AST]:
        """Every node that can run, in the order of the file.

        What an imported file does when it is started itself does not run here.
        """
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            if self.depth and _main_guard(node):
                continue
            yield node
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))


@dataclass(frozen=True, slots=True)
class Unparsable:
    source: SourceFile
    problem: str
    line: int
    depth: int


def parse(source: SourceFile, depth: int) -> Module | Unparsable:
    """As the Python that reads would, or a newer one; what only an older one would is read too,
    though it is a problem."""
    tree = _tree(source.text)
    if isinstance(tree, _Error):
        problem = Unparsable(source, tree.problem, tree.line, depth)
        newer = _of_other_words(in_older_words(source.text))
        if newer is not None:
            return Module(source, newer, source.lines(), depth)
        older = _of_other_words(in_newer_words(source.text))
        return problem if older is None else Module(source, older, source.lines(), depth, problem)
    return Module(source, tree, source.lines(), depth)


@dataclass(frozen=True, slots=True)
class _Error:
    problem: str
    line: int = 1


def _of_other_words(text: str | None) -> ast.Module | None:
    tree = None if text is None else _tree(text)
    return tree if isinstance(tree, ast.Module) else None


def _tree(text: str) -> ast.Module | _Error:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, _NO_FILE)
    except SyntaxError as error:
        return _Error(error.msg, error.lineno or 1)
    except (ValueError, RecursionError, MemoryError) as error:
        return _Error(str(error) or "too deeply nested")


def _main_guard(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.left, ast.Name)
        and node.test.left.id == "__name__"
    )

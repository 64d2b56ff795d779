"""Names and values in the text of a job's files, for where the code could not be interpreted.

Comments and docstrings are no code: what they say is never found here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from schedmate.advisor.agent.grounding import without_comment
from schedmate.advisor.agent.named import Named
from schedmate.advisor.interpret.python.parsed import ParsedFile, parse_file
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence

MOST_FILES: Final = 40
MOST_BYTES: Final = 1_500_000
_MOST_LINES: Final = 3000
_LONGEST_LINE: Final = 400
_RANK: Final = 6
_VALUE: Final = r"(?:[\"']([^\"'\n]{1,120})[\"']|([-+\w./:@%]{1,120})(?![-+\w./:@%=$]))"
_PAIR: Final = re.compile(
    r"(?:(?:^|[\s,{(\"'])-{0,2}([A-Za-z_][\w.-]{1,60})[\"']?\s{0,3}(?::-|[:=])\s{0,3}"
    rf"|(?:^|\s)--?([A-Za-z][\w.-]{{1,60}})\s{{1,3}}){_VALUE}"
)
_NUMBER: Final = re.compile(
    r"[-+]?(?:\d[\d_]{0,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?"
)


def written_values(sources: Iterable[SourceFile]) -> Iterator[Named]:
    """The first files first."""
    left = MOST_BYTES
    for place, source in enumerate(sources):
        left -= len(source.text)
        if place >= MOST_FILES or left < 0:
            return
        rank = (_RANK, place)
        yield from (_of_code if source.name.endswith(".py") else _of_text)(source, rank)


def _of_text(source: SourceFile, rank: tuple[int, int]) -> Iterator[Named]:
    for number, line in enumerate(source.lines()[:_MOST_LINES], start=1):
        code = without_comment(line[:_LONGEST_LINE])
        for name, quoted, bare in _pairs(code):
            yield Named(name, _plain(quoted or bare), (evidence(source.name, number, line),), rank)


def _pairs(code: str) -> Iterator[tuple[str, str, str]]:
    """Also `--set a=1`, whose second word is no value of the first."""
    start = 0
    while (found := _PAIR.search(code, start)) is not None:
        name = 1 if found[1] else 2
        yield found[name], found[3] or "", found[4] or ""
        start = found.end(name)


def _plain(text: str) -> str | int | float:
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text.replace("_", ""))
    return int(number) if number.is_integer() and "e" not in text.lower() else number


def _of_code(source: SourceFile, rank: tuple[int, int]) -> Iterator[Named]:
    module = parse_file(source, 0)
    if not isinstance(module, ParsedFile):
        return
    for node in _in_order(module.tree):
        for name, value in _stated(node):
            yield from _valued(name, value, module, rank)


def _in_order(tree: ast.Module) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _stated(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(attr=name), value=value):
            yield name, value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
        case ast.arguments(args=args, defaults=[_, *_] as defaults):
            for arg, value in zip(args[-len(defaults) :], defaults, strict=True):
                yield arg.arg, value
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            yield from ((name, value) for value in args)


def _valued(
    name: str, value: ast.expr | None, module: ParsedFile, rank: tuple[int, int]
) -> Iterator[Named]:
    match value:
        case ast.Constant(value=str() | int() | float() as plain) if not isinstance(plain, bool):
            yield Named(name, plain, _lines(module, value), rank)
        case ast.Call(func=ast.Name(id=made)) if made[:1].isupper():
            yield Named(name, made, _lines(module, value), rank, "class")


def _lines(module: ParsedFile, node: ast.AST) -> tuple[Evidence, ...]:
    return (module.line(node),)

"""A notebook's code, at the lines of the notebook's own file where they stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schedmate.advisor.sources.files import SourceFile

_MAX_GAP = 2000
"""Outputs stand between the cells; how many lines of them are looked through."""


def code_of(source: SourceFile) -> SourceFile:
    """The code cells as one Python text; nothing where it is no notebook."""
    try:
        cells = json.loads(source.text).get("cells", [])
        code = list(_code(cells))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return replace(source, text="")
    return replace(source, text="\n".join(_in_place(code, source.lines())) + "\n")


def _code(cells: Any) -> Iterator[str]:
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            lines = cell.get("source", "")
            text = lines if isinstance(lines, str) else "".join(map(str, lines))
            yield from text.splitlines()


def _in_place(code: list[str], lines: list[str]) -> list[str]:
    """Each line of code at the first line behind the one before that quotes it."""
    placed: list[str] = []
    at = 0
    for text in code:
        quoted = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        at = max(at, len(placed))
        found = at
        end = min(len(lines), at + _MAX_GAP)
        while found < end and _unquoted(lines[found]) not in quoted:
            found += 1
        if found < end:
            placed += [""] * (found - len(placed))
            at = found + 1
        placed.append(_python(text))
    return placed


def _unquoted(line: str) -> str:
    bare = line.strip().removesuffix(",")
    return bare.removeprefix('"').removesuffix('"').removesuffix("\\n")


def _python(line: str) -> str:
    """Commands to the notebook itself are no Python."""
    stripped = line.lstrip()
    return line.replace(stripped, f"pass  # {stripped}", 1) if stripped[:1] in ("!", "%") else line

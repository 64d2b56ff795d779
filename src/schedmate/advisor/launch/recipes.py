"""What `make train` and `just train` run, as a shell script at the lines of the file itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.sources.files import SourceFile

_FILES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}
_RULE = re.compile(r"@?([A-Za-z0-9_.%/ -]{1,200}?)(?: [\w =\"'*+-]{1,200})?:(?!=)([^=]{0,500})")
_VARIABLE = re.compile(r"(?:export )?([A-Za-z_]\w{0,100})\s*([:?+]?=)\s*(.{0,2000})", re.ASCII)
_USE = re.compile(r"\$[({]([A-Za-z_]\w{0,100})[)}]|\{\{ ?([A-Za-z_]\w{0,100}) ?\}\}", re.ASCII)
_MAX_DEPTH = 5
_MAX_TEXT = 20_000

Read = Callable[[Path], SourceFile | None]


def recipe(tool: str, words: Sequence[Word], base: Path, read: Read) -> SourceFile | None:
    """The recipe of the target that is named, or of the first one, behind what it depends on."""
    file = next((found for name in _FILES[tool] if (found := read(base / name))), None)
    if file is None:
        return None
    given = dict(_assignments(words))
    rules = _Rules(file, {name: word.text for name, word in given.items()})
    targets = [
        word.text for word in words if not word.text.startswith("-") and "=" not in word.text
    ]
    lines = rules.lines_of(targets[0] if targets else rules.first)
    if not lines:
        return None
    text = [""] * max(lines)
    for number, line in lines.items():
        text[number - 1] = line
    return SourceFile(file.name, "\n".join(text) + "\n", file.path)


def _assignments(words: Sequence[Word]) -> list[tuple[str, Word]]:
    return [
        (word.text.partition("=")[0], Word(word.text.partition("=")[2], word.evidence))
        for word in words
        if "=" in word.text and not word.text.startswith("-")
    ]


class _Rules:
    def __init__(self, file: SourceFile, given: Mapping[str, str]) -> None:
        self._variables: dict[str, str] = dict(given)
        self._given = frozenset(given)
        self._recipes: dict[str, dict[int, str]] = {}
        self._needs: dict[str, list[str]] = {}
        self.first = ""
        self._read(file.lines())

    def _read(self, lines: Sequence[str]) -> None:
        target: dict[int, str] = {}
        for number, line in enumerate(lines, 1):
            if line[:1] in ("\t", " ") and line.strip():
                target[number] = line.strip().lstrip("@-")
                continue
            variable, rule = _VARIABLE.match(line), _RULE.match(line)
            if variable is not None:
                self._assign(variable)
            elif rule is not None and not line.startswith((".", "#")):
                names = rule[1].split()
                target = {}
                self._recipes |= dict.fromkeys(names, target)
                self._needs |= dict.fromkeys(names, rule[2].partition("#")[0].split())
                self.first = self.first or (names[0] if names else "")

    def _assign(self, found: re.Match[str]) -> None:
        name, operator, value = found.groups()
        if name in self._given or (operator == "?=" and name in self._variables):
            return
        text = value.partition(" #")[0].strip()
        before = f"{self._variables.get(name, '')} " if operator == "+=" else ""
        self._variables[name] = (before + text)[:_MAX_TEXT]

    def lines_of(self, target: str, depth: int = 0) -> dict[int, str]:
        lines: dict[int, str] = {}
        for need in self._needs.get(target, ())[:20] if depth < _MAX_DEPTH else ():
            lines |= self.lines_of(need, depth + 1)
        own = self._recipes.get(target, {})
        return lines | {number: self._expanded(line) for number, line in own.items()}

    def _expanded(self, line: str) -> str:
        for _ in range(_MAX_DEPTH):
            new = _USE.sub(self._value, line)[:_MAX_TEXT]
            if new == line:
                break
            line = new
        return line.replace("$$", "$")

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return self._variables.get(name, f"${name}")

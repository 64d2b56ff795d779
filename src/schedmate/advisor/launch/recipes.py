"""What `make train` and `just train` run, as a shell script at the lines of the file itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.purpose import TRAINING, purpose_of
from schedmate.advisor.sources.files import SourceFile

_FILES = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}
_RULE = re.compile(r"@?([A-Za-z0-9_.%/ -]{1,200}?)( [\w =\"'*+$./-]{1,200})?:(?!=)([^=]{0,500})")
_VARIABLE = re.compile(r"(?:export )?([A-Za-z_]\w{0,100})\s*([:?+]?=)\s*(.{0,2000})", re.ASCII)
_USE = re.compile(r"\$[({]([A-Za-z_]\w{0,100})[)}]|\{\{ ?([A-Za-z_]\w{0,100}) ?\}\}", re.ASCII)
_VALUED = frozenset(("-C", "--directory", "-f", "--file", "--makefile", "-j", "--justfile"))
_PARAMETER = re.compile(
    r"([*+$]?)([A-Za-z_][\w-]{0,100})(?:=(\"[^\"]{0,200}\"|'[^']{0,200}'|\S{0,200}))?"
)
_MAX_DEPTH = 5
_MAX_TEXT = 20_000

Read = Callable[[Path], SourceFile | None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """`directory` is the one that `make -C` names."""

    text: SourceFile
    directory: Word | None = None


def tool_of(source: SourceFile) -> str | None:
    """Which tool a file belongs to by its name."""
    name = PurePosixPath(source.name).name
    if name.endswith((".mk", ".make")):
        return "make"
    return next((tool for tool, names in _FILES.items() if name in names), None)


def recipe(
    tool: str, words: Sequence[Word], base: Path, read: Read, file: SourceFile | None = None
) -> Recipe | None:
    """The recipe of the target that is named behind what it depends on. Without a name it is the
    first one; of a `file` that is itself the job, the one that trains."""
    options, plain = _apart(words)
    directory = options.get("-C") or options.get("--directory")
    place = base / directory.text if directory is not None else base
    names = [options[name].text for name in ("-f", "--file", "--makefile") if name in options]
    is_job = file is not None
    files = (read(place / name) for name in (*names, *_FILES[tool]))
    found = file or next((each for each in files if each is not None), None)
    if found is None:
        return None
    given = dict(_assignments(plain)) if tool != "just" else {}
    rules = _Rules(found, {name: word.text for name, word in given.items()}, takes=tool == "just")
    targets = [word for word in plain if word.text.split("=")[0] not in given]
    target = targets[0].text if targets else rules.of_job if is_job else rules.first
    if tool == "just":
        rules.call(target, [word.text for word in targets[1:]])
    lines = rules.lines_of(target)
    if not lines:
        return None
    text = [""] * max(lines)
    for number, line in lines.items():
        text[number - 1] = line
    return Recipe(replace(found, text="\n".join(text) + "\n"), directory)


def _apart(words: Sequence[Word]) -> tuple[dict[str, Word], list[Word]]:
    """Options with their values, and the rest: targets, what is set, arguments of a recipe."""
    options: dict[str, Word] = {}
    plain: list[Word] = []
    at = 0
    while at < len(words):
        word = words[at]
        if plain and "=" not in plain[0].text and not _VARIABLE.match(word.text):
            plain.append(word)
        elif word.text in _VALUED and at + 1 < len(words):
            at += 1
            options[word.text] = words[at]
        elif word.text.startswith("-"):
            name, _, value = word.text.partition("=")
            options[name] = replace(word, text=value)
        else:
            plain.append(word)
        at += 1
    return options, plain


def _assignments(words: Sequence[Word]) -> list[tuple[str, Word]]:
    return [
        (word.text.partition("=")[0], Word(word.text.partition("=")[2], word.evidence))
        for word in words
        if "=" in word.text and not word.text.startswith("-")
    ]


class _Rules:
    def __init__(self, file: SourceFile, given: Mapping[str, str], *, takes: bool) -> None:
        """`takes`: rules have parameters, as those of just do."""
        self._takes = takes
        self._parameters: dict[str, str] = {}
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
                goes_on = target.get(number - 1, "").endswith("\\")
                target[number] = line.strip() if goes_on else line.strip().lstrip("@-")
                continue
            variable, rule = _VARIABLE.match(line), _RULE.match(line)
            if variable is not None:
                self._assign(variable)
            elif rule is not None and not line.startswith((".", "#")):
                names = [rule[1].split()[0]] if self._takes else f"{rule[1]}{rule[2] or ''}".split()
                target = {}
                self._recipes |= dict.fromkeys(names, target)
                self._needs |= dict.fromkeys(names, rule[3].partition("#")[0].split())
                self._parameters[names[0]] = (rule[2] or "").strip()
                self.first = self.first or names[0]

    @property
    def of_job(self) -> str:
        """The first rule that is named after training; else the first."""
        training = (name for name in self._recipes if purpose_of(name, ()) >= TRAINING)
        return next(training, self.first)

    def call(self, target: str, values: Sequence[str]) -> None:
        """Set a rule's parameters; one with a star takes all that is left."""
        left = list(values)
        for found in _PARAMETER.finditer(self._parameters.get(target, "")):
            star, name, default = found.groups()
            if star in ("*", "+"):
                self._variables[name] = " ".join(left)
            else:
                self._variables[name] = left.pop(0) if left else (default or "").strip("\"'")

    def _assign(self, found: re.Match[str]) -> None:
        name, operator, value = found.groups()
        if name in self._given or (operator == "?=" and name in self._variables):
            return
        text = value.partition(" #")[0].strip()
        text = text.strip("\"'") if self._takes else text
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

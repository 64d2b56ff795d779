"""Raw shell words to what the shell would make of them, as far as that is known.

A `Piece` is a run of text from one line, so that a value which travelled through variables
still knows the line that states it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*])(?:\[[@*]\])?(?:(?P<op>:?[-=])(?P<default>.*))?",
    re.DOTALL,
)
_HERE = re.compile(
    r"\s*(?:pwd|(?:cd\s+)?\"?(?:\$\()?\s*dirname\s+(?:--\s+)?\"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?\"?.*)",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^\\'\"$`]+")
_MAX_DEPTH = 20
_MAX_PIECES = 50_000


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    line: int
    known: bool = True
    splits: bool = False
    """Whether blanks in it separate words: it came from an unquoted variable."""
    ends_word: bool = False
    """An element of an array, or one of the script's arguments, that is a word by itself."""
    given: bool = False
    """It came from the script's own command line, so that line is its evidence."""


@dataclass(slots=True)
class Variables:
    """What is set so far: pieces by name; `arguments` are `$1` and so on."""

    values: dict[str, tuple[Piece, ...]] = field(default_factory=dict)
    arguments: tuple[str, ...] | None = ()
    script_dir: str = "."
    budget: int = _MAX_PIECES
    """How many pieces may still be put in: a few lines can ask for billions."""

    def look_up(self, name: str) -> tuple[Piece, ...] | None:
        """None where nobody knows: the user's environment may have it."""
        if not (name in "@*" or name.isdigit()):
            return self.values.get(name)
        if self.arguments is None or name == "0":
            return None
        if name in "@*":
            return tuple(Piece(text, 1, ends_word=True, given=True) for text in self.arguments)
        index = int(name) - 1 if len(name) < 4 else len(self.arguments)  # noqa: PLR2004 - `$999` is enough
        return tuple(Piece(text, 1, given=True) for text in self.arguments[index : index + 1])


def expand(raw: str, line: int, variables: Variables, depth: int = 0) -> list[Piece]:
    """Take the quotes off and put the variables in."""
    return list(_Expansion(raw, line, variables, depth).pieces())


@dataclass(slots=True)
class _Expansion:
    raw: str
    line: int
    variables: Variables
    depth: int = 0
    at: int = 0

    def pieces(self, *, quoted: bool = False) -> Iterator[Piece]:
        while self.at < len(self.raw):
            char = self.raw[self.at]
            if char == "\\":
                yield from self._escaped()
            elif char == "'" and not quoted:
                yield from self._single_quoted()
            elif char == '"':
                if quoted:
                    return
                yield from self._double_quoted()
            elif char in "$`":
                yield from self._substituted(quoted=quoted)
            else:
                run = _PLAIN.match(self.raw, self.at)
                yield self._plain(1 if run is None else len(run[0]))

    def _plain(self, count: int) -> Piece:
        piece = Piece(self.raw[self.at : self.at + count], self.line)
        self.line += piece.text.count("\n")
        self.at += count
        return piece

    def _escaped(self) -> Iterator[Piece]:
        self.at += 1
        if self.raw[self.at : self.at + 1] == "\n":
            self.line += 1
            self.at += 1
        elif self.at < len(self.raw):
            yield self._plain(1)

    def _single_quoted(self) -> Iterator[Piece]:
        self.at += 1
        end = self.raw.find("'", self.at)
        yield self._plain((len(self.raw) if end < 0 else end) - self.at)
        self.at += 1

    def _double_quoted(self) -> Iterator[Piece]:
        self.at += 1
        yield Piece("", self.line)
        yield from self.pieces(quoted=True)
        self.at += 1

    def _substituted(self, *, quoted: bool) -> Iterator[Piece]:
        start = self.at
        following = self.raw[self.at + 1 : self.at + 2]
        if self.raw[self.at] == "`":
            self._skip("`")
        elif following == "(":
            yield from self._command(start)
            return
        elif following == "{":
            self.at += 1
            yield from self._braced(start, quoted=quoted)
            return
        else:
            found = _NAME.match(self.raw, self.at + 1)
            if found is None:
                yield self._plain(1)
                return
            self.at = found.end()
            yield from self._value(found[0], self.raw[start : self.at], quoted=quoted)
            return
        yield Piece(self.raw[start : self.at], self.line, known=False)

    def _command(self, start: int) -> Iterator[Piece]:
        self.at += 1
        self._skip(")")
        inside = self.raw[start + 2 : self.at - 1]
        if _HERE.fullmatch(inside):
            here = "." if inside.strip() == "pwd" else self.variables.script_dir
            yield Piece(here, self.line)
        else:
            yield Piece(self.raw[start : self.at], self.line, known=False)

    def _braced(self, start: int, *, quoted: bool) -> Iterator[Piece]:
        self._skip("}")
        inside = self.raw[start + 2 : self.at - 1]
        found = _BRACED.fullmatch(inside)
        whole = self.raw[start : self.at]
        if found is None:
            yield Piece(whole, self.line, known=False)
        elif found["op"]:
            yield from self._defaulted(found, whole, quoted=quoted)
        else:
            yield from self._value(found["name"], whole, quoted=quoted)

    def _defaulted(self, found: re.Match[str], whole: str, *, quoted: bool) -> Iterator[Piece]:
        name, operator = found["name"], found["op"]
        value = self.variables.look_up(name)
        if value and (any(piece.text for piece in value) or operator in "-="):
            yield from self._value(name, whole, quoted=quoted)
        elif self.depth >= _MAX_DEPTH:
            yield Piece(whole, self.line, known=False)
        else:
            default = tuple(expand(found["default"], self.line, self.variables, self.depth + 1))
            if operator.endswith("="):
                self.variables.values[name] = default
            yield from self._use(default, quoted=quoted)

    def _value(self, name: str, whole: str, *, quoted: bool) -> Iterator[Piece]:
        value = self.variables.look_up(name)
        if value is None or len(value) > self.variables.budget:
            yield Piece(whole, self.line, known=False)
        else:
            yield from self._use(value, quoted=quoted)

    def _use(self, value: tuple[Piece, ...], *, quoted: bool) -> Iterator[Piece]:
        self.variables.budget -= len(value)
        for piece in value:
            yield replace(piece, splits=not quoted and not piece.ends_word)

    def _skip(self, closing: str) -> None:
        """Step over a substitution, nested ones included, to behind its end."""
        opening = self.raw[self.at]
        depth, self.at = 1, self.at + 1
        while self.at < len(self.raw) and depth:
            char = self.raw[self.at]
            if char == closing:
                depth -= 1
            elif char == opening:
                depth += 1
            self.at += 1


def fields(pieces: list[Piece]) -> list[list[Piece]]:
    """Split expanded pieces into words: at blanks of unquoted variables and between elements."""
    words: list[list[Piece]] = []
    current: list[Piece] = []
    for piece in pieces:
        if piece.splits:
            current = _split(piece, current, words)
        else:
            current.append(piece)
            if piece.ends_word:
                words.append(current)
                current = []
    if current:
        words.append(current)
    return words


def _split(piece: Piece, current: list[Piece], words: list[list[Piece]]) -> list[Piece]:
    line = piece.line
    for part in re.split(r"(\s+)", piece.text):
        if part.isspace():
            line += part.count("\n")
            if current:
                words.append(current)
            current = []
        elif part:
            current.append(Piece(part, line, known=piece.known, given=piece.given))
    return current


def text_of(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)

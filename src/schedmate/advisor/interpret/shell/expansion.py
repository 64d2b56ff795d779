"""Raw shell words to what the shell would make of them, as far as that is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from schedmate.advisor.interpret.shell.lexer import extent
from schedmate.advisor.interpret.shell.spans import Value, fields, unknown
from schedmate.advisor.interpret.shell.words import Place, Span, Spans

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]", re.ASCII)
_PLAIN = re.compile(r"[^\\'\"$`]+")
_ALL_ELEMENTS = re.compile(r"\$@|\$\{@\}|\$\{\w+\[@\]\}", re.ASCII)
_RANGE = re.compile(r"(.{0,200}?)\{(-?\d{1,6})\.\.(-?\d{1,6})\}([^{}]{0,200})", re.DOTALL)
_CHOICE = re.compile(r"([^{}]{0,200})\{([^{},]{0,200}(?:,[^{},]{0,200}){1,50})\}([^{}]{0,200})")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "\\": "\\", "'": "'", '"': '"'}
_MAX_DEPTH = 12
_MAX_RANGE = 200
MAX_WORDS = 5000


class Scope(Protocol):
    """What an expansion may ask of the shell around it."""

    budget: int
    """How many spans may still be put in: a few lines can ask for billions."""

    @property
    def arguments(self) -> tuple[Spans, ...] | None:
        """`$1` and so on; None where unknown."""

    def look_up(self, name: str, at: Place) -> Value | None:
        """None where nothing in the script sets it."""

    def filled(self, name: str) -> bool | None:
        """Whether a variable that the script does not set holds anything when it starts."""

    def assign(self, name: str, value: Value) -> None: ...

    def number(self, text: str, at: Place) -> Spans | None:
        """What `$((text))` is."""

    def parameter(self, inside: str, whole: str, at: Place, depth: int) -> Spans:
        """What `${inside}` is; `whole` is how it is written."""

    def captured(self, text: str, at: Place) -> Spans:
        """What `$(text)` prints."""


def expand(raw: str, at: Place, scope: Scope, depth: int = 0) -> list[Span]:
    """Take the quotes off and put the variables in."""
    if depth > _MAX_DEPTH:
        return list(unknown(raw, at))
    return list(_Expansion(raw, at, scope, depth).spans())


def here_text(raw: str, at: Place, scope: Scope) -> list[Span]:
    """A here-document: quotes are text in it."""
    return list(_Expansion(raw, at, scope, 0, here=True).spans(quoted=True))


def words_of(raw: str, at: Place, scope: Scope) -> list[list[Span]]:
    """The words that one raw word becomes."""
    return [
        spans
        for part in (_braces(raw) if "{" in raw else [raw])
        for spans in fields(expand(part, at, scope))
    ][:MAX_WORDS]


def _braces(raw: str) -> list[str]:
    """`{1..3}` and `a{b,c}`, where no quotes or variables make it something else."""
    found = _RANGE.fullmatch(raw)
    if found is not None and not set(raw) & set("\"'$`\\"):
        first, last = int(found[2]), int(found[3])
        step = 1 if last >= first else -1
        numbers = range(first, last + step, step)[:_MAX_RANGE]
        return [f"{found[1]}{number}{found[4]}" for number in numbers]
    choice = None if set(raw) & set("\"'`\\") or "${" in raw else _CHOICE.fullmatch(raw)
    if choice is not None:
        return [f"{choice[1]}{part}{choice[3]}" for part in choice[2].split(",")]
    return [raw]


@dataclass(slots=True)
class _Expansion:
    raw: str
    place: Place
    scope: Scope
    depth: int = 0
    at: int = 0
    here: bool = False

    def spans(self, *, quoted: bool = False) -> Iterator[Span]:
        while self.at < len(self.raw):
            char = self.raw[self.at]
            if char == "\\":
                yield from self._escaped(quoted=quoted)
            elif char == "'" and not quoted:
                yield from self._single_quoted()
            elif char == '"' and not self.here:
                if quoted:
                    return
                yield from self._double_quoted()
            elif char in "$`":
                yield from self._substituted(quoted=quoted)
            else:
                run = _PLAIN.match(self.raw, self.at)
                yield self._plain(1 if run is None else len(run[0]))

    def _plain(self, count: int) -> Span:
        span = Span(self.raw[self.at : self.at + count], self.place)
        self._pass_lines(span.text)
        self.at += count
        return span

    def _pass_lines(self, text: str) -> None:
        count = text.count("\n")
        if count:
            self.place = (self.place[0], self.place[1] + count)

    def _escaped(self, *, quoted: bool) -> Iterator[Span]:
        following = self.raw[self.at + 1 : self.at + 2]
        if following == "\n":
            self._pass_lines("\n")
            self.at += 2
        elif quoted and following not in ("$", "`", "\\", *(() if self.here else ('"',))):
            yield self._plain(1)
        else:
            self.at += 1
            if self.at < len(self.raw):
                yield self._plain(1)

    def _single_quoted(self) -> Iterator[Span]:
        self.at += 1
        end = self.raw.find("'", self.at)
        yield self._plain((len(self.raw) if end < 0 else end) - self.at)
        self.at += 1

    def _double_quoted(self) -> Iterator[Span]:
        """`"$@"` without any arguments is no word, not an empty one."""
        self.at += 1
        start, empty = self.at, Span("", self.place)
        inner = list(self.spans(quoted=True))
        if inner or not _ALL_ELEMENTS.fullmatch(self.raw, start, self.at):
            yield empty
        yield from inner
        self.at += 1

    def _substituted(self, *, quoted: bool) -> Iterator[Span]:
        start, following = self.at, self.raw[self.at + 1 : self.at + 2]
        if self.raw[start] == "`":
            self.at = extent(self.raw, start)
            yield from self._captured(self.raw[start + 1 : self.at - 1], quoted=quoted)
        elif following == "(":
            self.at = extent(self.raw, start + 1)
            yield from self._parenthesis(self.raw[start : self.at], quoted=quoted)
        elif following == "{":
            self.at = extent(self.raw, start + 1)
            whole = self.raw[start : self.at]
            yield from self._parameter(whole[2:-1], whole, quoted=quoted)
        elif following == "'" and not quoted:
            self.at += 1
            yield from (replace(span, text=_ansi(span.text)) for span in self._single_quoted())
        elif following == '"' and not quoted:
            self.at += 1
        else:
            yield from self._name(start, quoted=quoted)

    def _name(self, start: int, *, quoted: bool) -> Iterator[Span]:
        found = _NAME.match(self.raw, start + 1)
        if found is None:
            yield self._plain(1)
            return
        self.at = found.end()
        yield from self._parameter(found[0], self.raw[start : self.at], quoted=quoted)

    def _parenthesis(self, whole: str, *, quoted: bool) -> Iterator[Span]:
        if whole.startswith("$((") and whole.endswith("))"):
            inner = whole[3:-2]
            found = self.scope.number(inner, self.place)
            yield from found or unknown(whole, self.place)
            self._pass_lines(whole)
        else:
            yield from self._captured(whole[2:-1], quoted=quoted)

    def _captured(self, text: str, *, quoted: bool) -> Iterator[Span]:
        yield from self._use(self.scope.captured(text, self.place), quoted=quoted)
        self._pass_lines(text)

    def _parameter(self, inside: str, whole: str, *, quoted: bool) -> Iterator[Span]:
        value = self.scope.parameter(inside, whole, self.place, self.depth)
        yield from self._use(value, quoted=quoted)
        self._pass_lines(whole)

    def _use(self, value: Spans, *, quoted: bool) -> Iterator[Span]:
        if len(value) > self.scope.budget:
            yield Span("$…", self.place, known=False)
            return
        self.scope.budget -= len(value)
        for span in value:
            splits = not quoted and not span.ends_word
            yield span if span.splits == splits else replace(span, splits=splits)


def _ansi(text: str) -> str:
    """`$'a\\n'`"""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text)

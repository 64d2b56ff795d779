"""A shell in the middle of a script: what it knows, and what its words become."""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, Protocol

from schedmate.advisor.interpret.shell.arithmetic import evaluate
from schedmate.advisor.interpret.shell.commands import Command, Site
from schedmate.advisor.interpret.shell.expansion import MAX_WORDS, expand, words_of
from schedmate.advisor.interpret.shell.lexer import Token
from schedmate.advisor.interpret.shell.parameters import parameter
from schedmate.advisor.interpret.shell.parser import parse
from schedmate.advisor.interpret.shell.spans import (
    Array,
    Value,
    in_one,
    known,
    plain,
    text_of,
    unknown,
    word,
)
from schedmate.advisor.interpret.shell.state import State, set_outside
from schedmate.advisor.interpret.shell.syntax import Block, Node, Redirect
from schedmate.advisor.interpret.shell.words import Place, SourceMap, Span, Spans, Word
from schedmate.advisor.sources.files import SourceFile

Flow = Literal["next", "exit", "return", "break", "continue"]
_MAX_SPANS = 60_000
_MAX_DIGITS = 18
_MAX_NESTED = 8
_MAX_SUBSTITUTIONS = 5000
_MAX_CAPTURED = 500


class Surroundings(Protocol):
    """The job's directory, as far as a script may look into it."""

    def read(self, path: str, cwd: str | None) -> SourceFile | None: ...

    def exists(self, path: str, cwd: str | None) -> bool: ...

    def directory(self, path: str, cwd: str | None) -> str | None:
        """The one of the job that is meant by a path of another machine, if there is one."""


class Shell(ABC):
    def __init__(self, source: SourceFile, surroundings: Surroundings) -> None:
        self.source = source
        self.book = SourceMap(source)
        self.offset = 0
        self.surroundings = surroundings
        self.state = State()
        self.budget = _MAX_SPANS
        self.commands: list[tuple[Site, Command]] = []
        self.captured_commands: list[tuple[Site, Command]] = []
        self.written: dict[str, SourceFile] = {}
        self.presumed: set[tuple[str, int]] = set()
        """Lines that run because a variable is set nowhere, by their file and number."""
        self.asked_unset = False
        self.status: bool | None = True
        self.assumed = False
        """The last status is that of a program, which is taken to succeed."""
        self.undecided = 0
        self.piped = False
        self.stdin: Spans | None = None
        self.printing: list[Spans] | None = None
        """What `$( … )` has printed so far."""
        self.outputs: tuple[Redirect, ...] = ()
        self.calls: tuple[int, ...] = ()
        self.sourcing: list[str] = []
        self.sourced: list[SourceFile] = []
        self.frames: list[dict[str, Value | None]] = []
        self.doubtful: set[str] = set()
        """Unknown texts that became part of code: a word that has one in it is unknown."""
        self._nested = 0
        self._substitutions = _MAX_SUBSTITUTIONS
        self._parsed: dict[str, Block] = {}

    @abstractmethod
    def run(self, node: Node) -> Flow:
        """Follow a part of the script; how it goes on behind it."""

    @property
    def arguments(self) -> tuple[Spans, ...] | None:
        return self.state.arguments

    def look_up(self, name: str, at: Place) -> Value | None:
        if name in self.state.values:
            return self.state.values[name]
        if name in ("0", "BASH_SOURCE"):
            return plain(self.book.name or self.source.name, at)
        if name == "PWD" and self.state.cwd is not None:
            return plain(self.state.cwd, at)
        return None

    def filled(self, name: str) -> bool | None:
        filled = set_outside(name)
        self.asked_unset = self.asked_unset or (filled is False and name.isidentifier())
        return filled

    def is_set(self, name: str) -> bool | None:
        return True if name in self.state.values else self.filled(name)

    def exists(self, path: str) -> bool:
        return path in self.written or self.surroundings.exists(path, self.state.cwd)

    def find(self, path: str) -> SourceFile | None:
        """A file of the job, or one that the script has written itself."""
        written = self.written.get(posixpath.normpath(posixpath.join(self.state.cwd or ".", path)))
        return written or self.surroundings.read(path, self.state.cwd)

    def assign(self, name: str, value: Value) -> None:
        self.state.values[name] = value
        state = self.state
        if state.exports_all or name in state.exported or name in state.to_export:
            self.export(name)

    def export(self, name: str) -> None:
        value = self.state.values.get(name)
        if value is None:
            self.state.to_export |= {name}
        elif not isinstance(value, Array):
            self.state.export(name, word(value, value[-1].at if value else (self.book, 1)))

    def parameter(self, inside: str, whole: str, at: Place, depth: int) -> Spans:
        return parameter(inside, whole, at, self, depth)

    def number(self, text: str, at: Place) -> Spans | None:
        """The line of the first variable in it states the number."""
        if "$(" in text or "${" in text or "`" in text or "$#" in text:
            with self._one_deeper() as too_deep:
                expanded = [] if too_deep else expand(text, at, self)
            text = text_of(expanded)
            if too_deep or not known(expanded):
                return None
        places: list[Place] = []

        def read(name: str) -> int | None:
            value = self.look_up(name, at)
            if value is None or isinstance(value, Array) or not known(value):
                return None
            places.extend(span.at for span in value[:1])
            return _whole(text_of(value).strip())

        def write(name: str, value: int | None) -> None:
            stated = places[0] if places else at
            self.assign(
                name, unknown(f"${name}", at) if value is None else plain(str(value), stated)
            )

        result = evaluate(text, read, write)
        return None if result is None else plain(str(result), places[0] if places else at)

    def captured(self, text: str, at: Place) -> Spans:
        """What a command substitution prints, where all of it is known."""
        with self._one_deeper() as too_deep:
            return unknown(f"$({text})", at) if too_deep else self._captured(text, at)

    @contextmanager
    def _one_deeper(self) -> Iterator[bool]:
        """Whether substitutions are nested too deep, or are too many, to be interpreted."""
        self._nested += 1
        self._substitutions -= 1
        yield self._nested > _MAX_NESTED or self._substitutions < 0
        self._nested -= 1

    def _captured(self, text: str, at: Place) -> Spans:
        before = self.printing, self.state, self.commands, self.piped, self.stdin, self.status
        self.printing, self.state, self.commands = [], self.state.copy(), []
        self.piped, self.stdin = False, None
        with self._at_line(at):
            self.run(self._parse(text))
        output = [span for part in self.printing for span in part]
        self.captured_commands += self.commands[: _MAX_CAPTURED - len(self.captured_commands)]
        self.printing, self.state, self.commands, self.piped, self.stdin, self.status = before
        if not output or not known(output):
            return unknown(f"$({text})", at)
        last = output[-1]
        output[-1] = Span(last.text.rstrip("\n"), last.at)
        return tuple(output)

    @contextmanager
    def _at_line(self, at: Place) -> Iterator[None]:
        before = self.book, self.offset
        self.book, self.offset = at[0], at[1] - 1
        yield
        self.book, self.offset = before

    def _parse(self, text: str) -> Block:
        if text not in self._parsed:
            self._parsed[text] = parse(text)
        return self._parsed[text]

    def place(self, token: Token) -> Place:
        return self.book, token.line + self.offset

    def spans(self, token: Token) -> Spans:
        """A token as one text, as in an assignment."""
        return in_one(expand(token.text, self.place(token), self))

    def words(self, tokens: Sequence[Token]) -> list[list[Span]]:
        return [
            spans
            for token in tokens[:MAX_WORDS]
            for spans in words_of(token.text, self.place(token), self)
        ][:MAX_WORDS]

    def as_words(self, tokens: Sequence[Token]) -> list[Word]:
        return [
            word(spans, self.place(token))
            for token in tokens[:MAX_WORDS]
            for spans in words_of(token.text, self.place(token), self)
        ][:MAX_WORDS]

    def run_text(self, text: str, at: Place) -> Flow:
        """`eval`, or a sourced file."""
        with self._at_line(at):
            return self.run(self._parse(text))


def _whole(digits: str) -> int | None:
    """A number that fits 64 bits; nothing counts as nought."""
    bare = digits.removeprefix("-")
    if not digits:
        return 0
    return int(digits) if bare.isascii() and bare.isdigit() and len(bare) <= _MAX_DIGITS else None

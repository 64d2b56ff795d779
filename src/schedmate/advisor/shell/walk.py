"""Walks through a script from top to bottom: assignments, `cd`, and the commands in the end.

Branches are not decided: a variable that only some branch sets is unknown afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from schedmate.advisor.shell.expansion import Piece, Variables, expand, fields, text_of
from schedmate.advisor.shell.lexer import Token, lex
from schedmate.advisor.shell.words import COMMAND_FILE, Word
from schedmate.advisor.sources import SourceFile, evidence
from schedmate.model import Evidence

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=", re.ASCII)
_OPENING = {"if", "case", "while", "until", "for", "select"}
_CLOSING = {"fi", "esac", "done"}
_GLUE = {"then", "else", "elif", "do", "in", "!", "{", "}", "((", "[[", "time", "coproc"}
_DECLARING = {"export", "declare", "local", "readonly", "typeset"}
_MAX_COMMANDS = 5000
_MAX_TEXT = 100_000
_MAX_WORDS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A simple command as it would be run, and where."""

    words: tuple[Word, ...]
    env: Mapping[str, Word]
    cwd: str | None
    """Relative to where the script starts, or absolute; None where nobody knows."""
    conditional: bool
    piped: bool = False
    """Whether it reads what the command before it writes."""
    outputs: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class ShellScript:
    """`exports` are the variables that its commands find in their environment."""

    source: SourceFile
    commands: tuple[Command, ...]
    exports: Mapping[str, str]


def walk(
    source: SourceFile,
    arguments: tuple[str, ...],
    *,
    set_before: Mapping[str, str] | None = None,
) -> ShellScript:
    """Read a script that gets these arguments and finds these variables set."""
    variables = Variables(arguments=arguments, script_dir=str(PurePosixPath(source.name).parent))
    for name, value in (set_before or {}).items():
        variables.values[name] = (Piece(value, 1, given=True),)
    walker = _Walker(source, variables, arguments)
    return ShellScript(source, tuple(walker.commands()), walker.exports)


@dataclass(slots=True)
class _Walker:
    source: SourceFile
    variables: Variables
    arguments: tuple[str, ...]
    cwd: str | None = "."
    depth: int = 0
    function_depth: int = 0
    lines: list[str] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)
    shown: dict[int, Evidence] = field(default_factory=dict)

    def commands(self) -> Iterator[Command]:
        self.lines = self.source.lines()
        count = 0
        for tokens, operator in _simple_commands(self.source.text):
            command = self._command(tokens, operator)
            if command is not None:
                yield command
                count += 1
            if count >= _MAX_COMMANDS:
                return

    def _command(self, tokens: list[Token], operator: str) -> Command | None:
        words, outputs = _without_redirections(tokens)
        words = self._without_keywords(words)
        decided = self.depth == 0 and operator not in ("&&", "||")
        env: dict[str, Word] = {}
        while words and (found := _ASSIGNMENT.match(words[0].text)):
            token = words.pop(0)
            self._assign(found, token, env, conditional=not decided, last=not words)
        if not words:
            return None
        if words[0].text in _DECLARING:
            self._declare(words[1:], conditional=not decided)
            return None
        expanded = self._words(words)
        if not expanded:
            return None
        if expanded[0].text in ("cd", "pushd"):
            self._change_directory(expanded)
            return None
        return Command(
            words=tuple(expanded),
            env=env,
            cwd=self.cwd,
            conditional=self.depth > 0,
            piped=operator == "|",
            outputs=tuple(self._words(outputs)),
        )

    def _without_keywords(self, words: list[Token]) -> list[Token]:
        while words:
            text = words[0].text
            if text in _OPENING:
                self.depth += 1
                if text in ("for", "select", "case"):
                    self._loop(words)
                    return []
            elif text in _CLOSING:
                self.depth = max(0, self.depth - 1)
            elif text == "{" or text in _GLUE:
                self._brace(text)
            elif text == "function":
                return []
            else:
                break
            words = words[1:]
        return words

    def _brace(self, text: str) -> None:
        """Inside a function `$1` is not the script's own; nested braces do not matter here."""
        if text == "{":
            self.function_depth += 1
            self.variables.arguments = None
        elif text == "}":
            self.function_depth = max(0, self.function_depth - 1)
            if self.function_depth == 0:
                self.variables.arguments = self.arguments

    def _loop(self, words: list[Token]) -> None:
        """The variable of a loop has a value only if there is just one to have."""
        if len(words) < 2 or words[0].text == "case":  # noqa: PLR2004 - `for` and its variable
            return
        name = words[1].text
        items = self._words(words[3:])
        if len(items) == 1 and items[0].known:
            self.variables.values[name] = (Piece(items[0].text, words[3].line),)
        else:
            self.variables.values[name] = (Piece(f"${name}", words[1].line, known=False),)

    def _words(self, tokens: list[Token]) -> list[Word]:
        return [
            self._word(pieces, token.line)
            for token in tokens[:_MAX_WORDS]
            for pieces in fields(expand(token.text, token.line, self.variables))
        ][:_MAX_WORDS]

    def _word(self, pieces: list[Piece], line: int) -> Word:
        stated = [piece for piece in pieces if piece.text] or pieces
        lines = dict.fromkeys((piece.line, piece.given) for piece in reversed(stated))
        lines[line, False] = None
        return Word(
            text_of(pieces)[:_MAX_TEXT],
            tuple(self._evidence(number, given=given) for number, given in list(lines)[:3]),
            known=all(piece.known for piece in pieces),
        )

    def _evidence(self, line: int, *, given: bool) -> Evidence:
        if given:
            text = " ".join((self.source.name, *self.arguments))
            return evidence(COMMAND_FILE, 1, text)
        if line not in self.shown:
            text = self.lines[line - 1] if line <= len(self.lines) else ""
            self.shown[line] = evidence(self.source.name, line, text)
        return self.shown[line]

    def _assign(
        self,
        found: re.Match[str],
        token: Token,
        env: dict[str, Word],
        *,
        conditional: bool,
        last: bool,
    ) -> None:
        name, adds = found[1], bool(found[2])
        value = self._value(token.text[found.end() :], token.line)
        env[name] = self._word(list(value) or [Piece("", token.line)], token.line)
        if not last:
            return
        before = self.variables.values.get(name)
        if adds and before is not None:
            value = (*before, *value)
        if conditional and (before is None or text_of(before) != text_of(value)):
            value = (Piece(f"${name}", token.line, known=False),)
        self.variables.values[name] = value

    def _value(self, raw: str, line: int) -> tuple[Piece, ...]:
        if not (raw.startswith("(") and raw.endswith(")")):
            return tuple(expand(raw, line, self.variables))
        tokens = [token for token in lex(raw[1:-1]) if token.kind == "word"]
        elements: list[Piece] = []
        for token in tokens:
            at = line + token.line - 1
            for pieces in fields(expand(token.text, at, self.variables)):
                elements += [*pieces[:-1], _ending(pieces[-1])]
        return tuple(elements)

    def _declare(self, words: list[Token], *, conditional: bool) -> None:
        for token in words:
            found = _ASSIGNMENT.match(token.text)
            if found is not None:
                self._assign(found, token, {}, conditional=conditional, last=True)
                self.exports[found[1]] = text_of(self.variables.values[found[1]])

    def _change_directory(self, words: list[Word]) -> None:
        where = words[1] if len(words) > 1 else None
        if where is None or not where.known or where.text in ("-", "~"):
            self.cwd = None
        elif where.text.startswith("/") or self.cwd is None:
            self.cwd = where.text if where.text.startswith("/") else None
        else:
            self.cwd = str(PurePosixPath(self.cwd) / where.text)


def _ending(piece: Piece) -> Piece:
    return Piece(piece.text, piece.line, known=piece.known, ends_word=True, given=piece.given)


def _simple_commands(text: str) -> Iterator[tuple[list[Token], str]]:
    """Tokens of each simple command, and the operator before it."""
    current: list[Token] = []
    operator = "\n"
    for token in lex(text):
        if token.kind in ("word", "redirect"):
            current.append(token)
            continue
        if current:
            yield current, operator
            current = []
        if token.text != "(":
            operator = token.text
    if current:
        yield current, operator


def _without_redirections(tokens: list[Token]) -> tuple[list[Token], list[Token]]:
    """The words proper, and the files that the output goes to."""
    words: list[Token] = []
    outputs: list[Token] = []
    redirect: Token | None = None
    for token in tokens:
        if token.kind == "redirect":
            redirect = token
        elif redirect is None:
            words.append(token)
        else:
            if ">" in redirect.text and not redirect.text.endswith("&"):
                outputs.append(token)
            redirect = None
    return words, outputs

"""What simple commands do to the shell that runs them: assignments, calls, files, output."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from schedmate.advisor.interpret.shell.assignments import assign, declare, is_assignment
from schedmate.advisor.interpret.shell.commands import Command
from schedmate.advisor.interpret.shell.expansion import MAX_WORDS, expand, here_text, words_of
from schedmate.advisor.interpret.shell.inner_commands import BUILTINS, Fields
from schedmate.advisor.interpret.shell.lexer import HereDocument, Token
from schedmate.advisor.interpret.shell.machine import Machine
from schedmate.advisor.interpret.shell.outputs import READS_FILES, printed, prints
from schedmate.advisor.interpret.shell.scope import Flow
from schedmate.advisor.interpret.shell.spans import in_one, known, plain, text_of, unknown, word
from schedmate.advisor.interpret.shell.state import Defined
from schedmate.advisor.interpret.shell.syntax import Redirect, Simple
from schedmate.advisor.interpret.shell.words import Place, SourceMap, Span, Spans, Word
from schedmate.advisor.sources.files import SourceFile

_DECLARING = frozenset(("export", "declare", "local", "readonly", "typeset"))
_WRITERS = frozenset(("cat", "echo", "printf", "tee"))
_DESCRIPTOR = re.compile(r"\d+-?|-")
_MAX_CALLS = 20
_MAX_WRITTEN = 200
_MAX_LOGS = 20
_MAX_LINES = 20_000


class SimpleCommands:
    """The doer of a `Machine`."""

    def do(self, machine: Machine, node: Simple) -> Flow:
        tokens = list(node.words)
        count = 0
        while count < len(tokens) and is_assignment(tokens[count].text):
            count += 1
        if count == len(tokens):
            for token in tokens:
                assign(machine, token)
            machine.status, machine.assumed = True, False
            return "next"
        if tokens[count].text in _DECLARING:
            declare(machine, tokens[count:])
            machine.status, machine.assumed = True, False
            return "next"
        own = dict(_alone(machine, token) for token in tokens[:count])
        return self._words(machine, node, tokens[count:], own)

    def empty(self, machine: Machine, redirects: Sequence[Redirect]) -> None:
        anew = [redirect for redirect in redirects if not redirect.operator.endswith(">>")]
        for file in _output_files(machine, anew):
            machine.written.pop(_path(machine, file.text), None)

    def _words(
        self, machine: Machine, node: Simple, tokens: list[Token], own: dict[str, Word]
    ) -> Flow:
        fields, places = _expanded(machine, tokens)
        if not fields:
            return "next"
        name = text_of(fields[0])
        function = machine.state.functions.get(name)
        if function is not None and len(machine.calls) < _MAX_CALLS:
            return self._call(machine, node, function, fields)
        before = machine.stdin
        here = _input(machine, node.redirects)
        machine.stdin = here if here is not None else machine.stdin
        builtin = BUILTINS.get(name)
        if builtin is not None:
            machine.status, machine.assumed = True, False
            flow = builtin(machine, fields[1:], node)
        else:
            words = [word(spans, at) for spans, at in zip(fields, places, strict=True)]
            words = [_doubted(each, machine.doubtful) for each in words]
            flow = self._program(machine, node, fields, words, own)
        machine.stdin = before
        return flow

    def _call(self, machine: Machine, node: Simple, function: Defined, fields: Fields) -> Flow:
        before = machine.state.arguments, machine.calls
        here = machine.book, machine.offset
        machine.book, machine.offset = function.book, function.offset
        machine.state.arguments = tuple(tuple(field) for field in fields[1:])
        machine.calls = (*machine.calls, id(node))
        machine.frames.append({})
        flow = machine.run(function.body)
        machine.book, machine.offset = here
        for name, value in machine.frames.pop().items():
            if value is None:
                machine.state.values.pop(name, None)
            else:
                machine.state.values[name] = value
        machine.state.arguments, machine.calls = before
        return flow if flow == "exit" else "next"

    def _program(
        self,
        machine: Machine,
        node: Simple,
        fields: Fields,
        words: list[Word],
        own: dict[str, Word],
    ) -> Flow:
        name, at = text_of(fields[0]), machine.place(node.words[0])
        files = _output_files(machine, node.redirects)
        if name == "exec" and len(words) == 1:
            machine.state.logs = (*machine.state.logs, *files)[-_MAX_LOGS:]
            return "next"
        group = _output_files(machine, machine.outputs)
        if machine.printing is not None or (name in _WRITERS and (files or group or name == "tee")):
            self._print(machine, node, fields, files, at)
        machine.status, machine.assumed = None, True
        exported = machine.state.exported
        command = Command(
            words=tuple(words),
            env={**exported, **own} if own else exported,
            cwd=machine.state.cwd,
            conditional=machine.undecided > 0,
            piped=machine.piped,
            outputs=(*files, *group, *machine.state.logs),
            stdin=_input_file(machine, node.redirects),
        )
        machine.commands.append(((*machine.calls, id(node)), command))
        if name == "exec" and not machine.undecided and machine.printing is None:
            return "exit"
        return "next"

    def _print(
        self, machine: Machine, node: Simple, fields: Fields, files: Sequence[Word], at: Place
    ) -> None:
        text = _printed(machine, fields, at)
        name = text_of(fields[0])
        if name == "tee":
            files = [*files, *_tee_targets(fields)]
        if text is not None:
            append = any(redirect.operator.endswith(">>") for redirect in node.redirects)
            for file in files:
                _write(machine, file.text, text, append=append)
            for file in () if files else _output_files(machine, machine.outputs):
                _write(machine, file.text, text, append=True)
        if machine.printing is not None and not files:
            machine.printing.append(unknown("$(…)", at) if text is None else text)


def _expanded(machine: Machine, tokens: Sequence[Token]) -> tuple[Fields, list[Place]]:
    """Once only: a substitution in it may be costly, and change what it reads."""
    fields: Fields = []
    places: list[Place] = []
    for token in tokens[:MAX_WORDS]:
        at = machine.place(token)
        found = words_of(token.text, at, machine)
        fields += found
        places += [at] * len(found)
    return fields[:MAX_WORDS], places[:MAX_WORDS]


def _doubted(each: Word, texts: set[str]) -> Word:
    if each.known and any(text in each.text for text in texts):
        return replace(each, known=False)
    return each


def _alone(machine: Machine, token: Token) -> tuple[str, Word]:
    """`A=b command`: for that command alone."""
    name, _, raw = token.text.partition("=")
    at = machine.place(token)
    return name, word(expand(raw, at, machine) or [Span("", at)], at)


def _tee_targets(fields: Fields) -> list[Word]:
    return [
        Word(text_of(field), known=known(field))
        for field in fields[1:]
        if not text_of(field).startswith("-")
    ]


def _output_files(machine: Machine, redirects: Sequence[Redirect]) -> tuple[Word, ...]:
    tokens = [
        redirect.target
        for redirect in redirects
        if redirect.target is not None
        and ">" in redirect.operator
        and not _DESCRIPTOR.fullmatch(redirect.target.text)
        and not redirect.target.text.startswith((">(", "<("))
    ]
    return tuple(machine.as_words(tokens))


def _here(redirects: Sequence[Redirect]) -> HereDocument | None:
    return next((redirect.here for redirect in redirects if redirect.here is not None), None)


def _document(machine: Machine, here: HereDocument) -> Spans:
    at = (machine.book, here.line + machine.offset)
    if here.literal:
        return plain(here.text, at)
    return in_one(here_text(here.text, at, machine)) or plain("", at)


def _input(machine: Machine, redirects: Sequence[Redirect]) -> Spans | None:
    """A here-document or a here-string."""
    here = _here(redirects)
    if here is not None:
        return _document(machine, here)
    for redirect in redirects:
        if redirect.operator == "<<<" and redirect.target is not None:
            spans = machine.spans(redirect.target)
            return (*spans, Span("\n", machine.place(redirect.target)))
    return None


def _input_file(machine: Machine, redirects: Sequence[Redirect]) -> SourceFile | None:
    if _here(redirects) is not None and machine.stdin:
        return _numbered(machine, machine.stdin)
    for redirect in redirects:
        if redirect.operator == "<" and redirect.target is not None:
            return machine.find(text_of(machine.spans(redirect.target)))
    if machine.piped and any(each.known and each.text.strip() for each in machine.stdin or ()):
        return _numbered(machine, machine.stdin or ())
    return None


def _numbered(machine: Machine, spans: Spans) -> SourceFile:
    """Text at the same lines as in the script, so that its evidence is the script's line."""
    book, line = spans[0].at
    blank = "\n" * min(max(line - 1, 0), _MAX_LINES)
    return SourceFile(book.name or machine.source.name, blank + text_of(spans))


def _printed(machine: Machine, fields: Fields, at: Place) -> Spans | None:
    name, arguments = text_of(fields[0]), fields[1:]
    stdin = machine.stdin
    if name in ("cat", "tee") and stdin is not None and (name == "tee" or not arguments):
        return stdin
    if name == "cat" and len(arguments) == 1 and known(arguments[0]):
        source = machine.surroundings.read(text_of(arguments[0]), machine.state.cwd)
        return None if source is None else plain(source.text, at)
    if name in ("echo", "printf") and not all(known(field) for field in arguments):
        return _unsure_echo(arguments, at) if name == "echo" else None
    unsure = stdin is not None and not known(stdin)
    if unsure or not prints(name) or not all(known(field) for field in arguments):
        return None
    if stdin is None and name in READS_FILES and len(arguments) > 1:
        return _filtered(machine, name, [text_of(field) for field in arguments])
    given = None if stdin is None else text_of(stdin)
    text = printed(name, [text_of(field) for field in arguments], given)
    return None if text is None else plain(text, _telling(arguments, stdin, at))


def _filtered(machine: Machine, name: str, arguments: Sequence[str]) -> Spans | None:
    """What a filter prints of a file of the job, at the line of the file where that stands."""
    source = machine.find(arguments[-1])
    text = None if source is None else printed(name, arguments[:-1], source.text)
    if source is None or text is None:
        return None
    first = text.partition("\n")[0].strip()
    lines = source.lines()
    number = next((at for at, line in enumerate(lines, 1) if first and first in line), 1)
    return plain(text, (SourceMap(source), number))


def _unsure_echo(arguments: Fields, at: Place) -> Spans:
    """What is known of it stays; the rest is unknown."""
    spans: list[Span] = []
    for field in arguments:
        spans += [*field, Span(" ", at)]
    return (*spans[:-1], Span("\n", at))


def _telling(arguments: Fields, stdin: Spans | None, at: Place) -> Place:
    """The line that states what a command prints: not its own, if a variable came from afar."""
    spans = [*(span for field in arguments for span in field), *(stdin or ())]
    return next((span.at for span in spans if span.text and span.at != at), at)


def _path(machine: Machine, name: str) -> str:
    return posixpath.normpath(posixpath.join(machine.state.cwd or ".", name))


def _write(machine: Machine, name: str, text: Spans, *, append: bool) -> None:
    path = _path(machine, name)
    source = _numbered(machine, text)
    before = machine.written.get(path)
    if append and before is not None and before.name == source.name:
        done = before.text.count("\n")
        body = source.text[min(done, len(source.text) - len(source.text.lstrip("\n"))) :]
        source = SourceFile(source.name, before.text + body)
    if len(machine.written) < _MAX_WRITTEN and not path.startswith("/dev/"):
        machine.written[path] = source

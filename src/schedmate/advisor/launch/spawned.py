"""Commands that a Python program starts: `subprocess.run`, `os.system`, a job sent to Ray.

Read from the syntax alone: what stands in variables that are set once is put in, what depends on
anything else is unknown.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.purpose import TRAINING, purpose_of, trains
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.launch.started import Started
from schedmate.advisor.sources.files import SourceFile, evidence

_SPAWNS = re.compile(r"\b(?:subprocess|os\.system|os\.popen|os\.exec|submit_job)\b")
_LISTS = frozenset(("run", "call", "check_call", "check_output", "Popen", "execvp", "execv"))
_TEXTS = frozenset(("system", "popen", "getoutput", "submit_job"))
_MAX_DEPTH = 20
_MAX_COMMANDS = 20
_UNKNOWN = "$_"
Words = tuple[Word, ...]
Unwrap = Callable[[Sequence[Word], Started], list[PythonRun]]


def started_by(main: PythonRun, unwrap: Unwrap) -> list[PythonRun]:
    """The runs for training that a program starts which does not train itself."""
    source = main.entry.source
    if source is None or _SPAWNS.search(source.text) is None or trains(source.text):
        return []
    where = Started(
        launched=main.launched,
        env=main.env,
        cwd=None if main.cwd is None else str(main.cwd),
        conditional=main.conditional,
        logs=main.log_files,
        cap=main.killed_after,
        asked=main.asked,
    )
    runs = [run for words in spawned(source, main.arguments) for run in unwrap(words, where)]
    return [run for run in runs if run.entry.source is not None and _is_training(run)]


def _is_training(run: PythonRun) -> bool:
    named = purpose_of(run.entry.name, [word.text for word in run.arguments if word.known])
    return named >= TRAINING or (run.entry.source is not None and trains(run.entry.source.text))


def spawned(source: SourceFile, arguments: Sequence[Word]) -> list[Words]:
    """The commands, as words or as `bash -c TEXT`; `arguments` are the program's own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    reader = _Reader(source, tuple(arguments))
    try:
        reader.block(tree.body)
    except RecursionError:
        return []
    return reader.found[:_MAX_COMMANDS]


@dataclass(slots=True)
class _Reader:
    source: SourceFile
    arguments: Words
    found: list[Words] = field(default_factory=list)
    _names: dict[str, Words] = field(default_factory=dict)

    def block(self, body: Sequence[ast.stmt], *, decided: bool = True) -> None:
        for statement in body:
            self._statement(statement, decided=decided)

    def _statement(self, statement: ast.stmt, *, decided: bool) -> None:
        inner = isinstance(statement, ast.If | ast.Try | ast.Match)
        for call in _own_calls(statement):
            self._call(call, decided=decided)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if decided:
                self._names[name] = self._words(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value) if decided:
                self._names[name] = (*self._names.get(name, ()), *self._words(value))
        for name in ("body", "orelse", "finalbody"):
            self.block(getattr(statement, name, ()), decided=decided and not inner)

    def _call(self, call: ast.Call, *, decided: bool) -> None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = call.func.id if isinstance(call.func, ast.Name) else name
        given = next((each.value for each in call.keywords if each.arg == "entrypoint"), None)
        first = given or (call.args[0] if call.args else None)
        if first is None:
            return
        if name in ("append", "extend") and isinstance(call.func, ast.Attribute):
            owner = call.func.value
            if decided and isinstance(owner, ast.Name) and owner.id in self._names:
                self._names[owner.id] += self._words(first)
        elif name in _LISTS | _TEXTS:
            words = self._words(call.args[1] if name.startswith("execv") else first)
            as_text = name in _TEXTS or _is_true(call, "shell")
            self.found += [_shell(words) if as_text or len(words) == 1 else words] if words else []

    def _words(self, node: ast.expr, depth: int = 0) -> Words:
        if depth > _MAX_DEPTH:
            return ()
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                plain = (item.value if isinstance(item, ast.Starred) else item for item in items)
                return tuple(word for item in plain for word in self._words(item, depth + 1))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return (*self._words(left, depth + 1), *self._words(right, depth + 1))
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="sys"), attr="argv")):
                return self.arguments
            case ast.Call():
                return self._made(node, depth)
        return self._one(node, depth)

    def _one(self, node: ast.expr, depth: int) -> Words:
        unknown = (self._word(node, _UNKNOWN, known=False),)
        match node:
            case ast.Name(id=name):
                return self._names.get(name, unknown)
            case ast.Attribute(value=ast.Name(id="sys"), attr="executable"):
                return (self._word(node, "python"),)
            case ast.Constant(value=str() | int() | float() as value):
                return (self._word(node, str(value)),)
            case ast.JoinedStr(values=parts):
                return (self._formatted(node, parts, depth),)
        return unknown

    def _formatted(self, node: ast.expr, parts: Sequence[ast.expr], depth: int) -> Word:
        spans: list[Word] = []
        for part in parts:
            value = part.value if isinstance(part, ast.FormattedValue) else part
            spans += self._words(value, depth + 1)
        text = "".join(span.text for span in spans)
        return self._word(node, text, known=all(span.known for span in spans))

    def _made(self, call: ast.Call, depth: int) -> Words:
        """`str(x)`, `"a b".split()`, `shlex.split(x)`, `" ".join(words)`."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = call.func.id if isinstance(call.func, ast.Name) else name
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name == "split" and owner is not None and not call.args:
            return tuple(part for word in self._words(owner, depth + 1) for part in _split(word))
        if not call.args:
            return (self._word(call, _UNKNOWN, known=False),)
        words = self._words(call.args[0], depth + 1)
        if name == "split":
            return tuple(part for word in words for part in _split(word))
        if name == "join":
            return (_joined(words),)
        return words if name == "str" else (self._word(call, _UNKNOWN, known=False),)

    def _word(self, node: ast.expr, text: str, *, known: bool = True) -> Word:
        lines = self.source.lines()
        line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
        return Word(text, (evidence(self.source.name, node.lineno, line),), known=known)


def _own_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Those of a statement itself, not of statements in it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.Call):
                yield child
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append(child)


def _is_true(call: ast.Call, name: str) -> bool:
    return any(
        each.arg == name and isinstance(each.value, ast.Constant) and each.value.value is True
        for each in call.keywords
    )


def _split(word: Word) -> list[Word]:
    try:
        texts = shlex.split(word.text)
    except ValueError:
        texts = word.text.split()
    return [replace(word, text=text, known="$" not in text) for text in texts]


def _joined(words: Words) -> Word:
    text = " ".join(word.text for word in words)
    lines = words[0].evidence if words else ()
    return Word(text, lines, known=all(word.known for word in words))


def _shell(words: Words) -> Words:
    text = _joined(words)
    return (Word("bash", text.evidence), Word("-c", text.evidence), replace(text, known=True))

"""A job's calls, replayed one by one at the seam between the evaluator and the models."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    Call,
    LibraryObject,
    LocalClass,
    LocalFunction,
    Table,
    Value,
)
from schedmate.advisor.interpret.python.values import Sequence as Items
from schedmate.advisor.interpret.shell import Word, command_words
from schedmate.advisor.options import MODELS
from schedmate.advisor.sources.files import evidence


def value(data: Any, line: int = 1, file: str = "train.py", source: Any = "code") -> Value:
    """A literal of the job as the evaluator would have it."""
    if isinstance(data, Value):
        return data
    lines = (evidence(file, line, repr(data)),)
    if isinstance(data, (list, tuple)):
        return Value(Items([value(each, line, file, source) for each in data]), lines, source)
    if isinstance(data, dict):
        parts = {name: value(each, line, file, source) for name, each in data.items()}
        return Value(Table(parts), lines, source)
    return Value(data, lines, source)


def plain(found: Value | None) -> Any:
    """The other way round, for comparing."""
    if found is None:
        return None
    if isinstance(found.data, Items):
        return [plain(each) for each in found.data.items]
    if isinstance(found.data, Table):
        return {k: plain(v) for k, v in found.data.parts.items() if not k.startswith("<")}
    return found.data


@dataclass
class Replay:
    """A context with a command line and config files; calls of it go to the models."""

    command: str | Sequence[Word] = ""
    configs: Mapping[str, str] = field(default_factory=dict)
    python_configs: Mapping[str, Value] = field(default_factory=dict)
    environment: Mapping[str, Word] = field(default_factory=dict)
    invoked: Any = lambda function, positional, keywords: UNKNOWN
    stated: list[Option] = field(default_factory=list)
    line: int = 0

    @property
    def arguments(self) -> tuple[Word, ...]:
        if isinstance(self.command, str):
            return command_words(shlex.split(self.command))
        return tuple(self.command)

    @property
    def options(self) -> dict[str, Value]:
        return {option.name: option.value for option in self.stated}

    def said(self, name: str) -> tuple[Any, str, int]:
        """An option's value, its source and the line that states it."""
        found = self.options[name]
        return plain(found), found.source, found.lines[0].line

    def state(self, option: Option) -> None:
        self.stated.append(option)

    def read_config(self, path: str) -> Value | None:
        text = self.configs.get(path)
        return None if text is None else value(yaml.safe_load(text), 1, path, "config")

    def read_python_config(self, path: str) -> Value | None:
        return self.python_configs.get(path)

    def list_files(self, directory: str) -> Sequence[str]:
        return [name for name in self.configs if name.startswith(directory)]

    def invoke(self, function: Value, positional=(), keywords=None) -> Value:
        return self.invoked(function, positional, keywords or {})

    def signature(self, function: LocalFunction) -> Sequence[Any]:
        return function.home

    def members(self, cls: LocalClass) -> Mapping[str, Value]:
        return cls.parts

    def __call__(self, callee: str, *positional: Any, on: Value | None = None, **keywords: Any):
        """Replay one call, as if it stood on a line of its own."""
        self.line += 1
        call = Call(
            callee=callee,
            positional=tuple(value(each, self.line) for each in positional),
            keywords={name: value(each, self.line) for name, each in keywords.items()},
            line=evidence("train.py", self.line, callee),
            receiver=on,
        )
        result = MODELS[callee](call, self)
        return Value(LibraryObject(call), (call.line,)) if result is None else result

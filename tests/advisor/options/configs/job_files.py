"""A job that consists of config files alone, as the models and tools see it."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import (
    UNKNOWN,
    UNKNOWN_DATA,
    LocalClass,
    LocalFunction,
    Table,
    Value,
)
from schedmate.advisor.interpret.python.values import Sequence as Items
from schedmate.advisor.interpret.shell import Word, command_words
from schedmate.advisor.options.configs import read
from schedmate.advisor.sources.files import SourceFile


@dataclass
class JobFiles:
    """A `Context` of files in memory. `asked` are the paths that were looked for."""

    files: Mapping[str, str]
    command: str = ""
    environment: Mapping[str, Word] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)

    @property
    def arguments(self) -> tuple[Word, ...]:
        return command_words(shlex.split(self.command))

    def state(self, option: Option) -> None:
        self.options.append(option)

    def read_config(self, path: str) -> Value | None:
        self.asked.append(path)
        text = self.files.get(posixpath.normpath(path))
        return None if text is None else read(SourceFile(path, text))

    def read_python_config(self, path: str) -> Value | None:
        return None

    def list_files(self, directory: str) -> Sequence[str]:
        below = posixpath.normpath(directory) + "/"
        return [name for name in self.files if name.startswith(below)]

    def invoke(
        self,
        function: Value,
        positional: Sequence[Value] = (),
        keywords: Mapping[str, Value] | None = None,
    ) -> Value:
        return UNKNOWN

    def signature(
        self, function: LocalFunction
    ) -> Sequence[tuple[str, Value | None, Value | None]]:
        return ()

    def members(self, cls: LocalClass) -> Mapping[str, Value]:
        return {}


def bare(value: Value) -> Any:
    """The data alone, as Python would have it; "?" for an unknown value."""
    match value.data:
        case Table() as table:
            return {name: bare(part) for name, part in table.parts.items()}
        case Items() as sequence:
            return [bare(item) for item in sequence.items]
        case data:
            return "?" if data is UNKNOWN_DATA else data


def words(command: str) -> tuple[Word, ...]:
    return command_words(shlex.split(command))

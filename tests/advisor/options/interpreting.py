"""Small jobs, interpreted for real: what their options will be."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.options.replay import plain
from schedmate.advisor.frameworks.runtime import RUNTIME
from schedmate.advisor.interpret.python.interpretation import interpret
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.shell import Word, command_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.options import MODELS, WRAPPERS
from schedmate.advisor.options.configs import read
from schedmate.advisor.sources.files import Files


@dataclass
class Job:
    trace: Trace

    @property
    def options(self) -> dict[str, Any]:
        return {option.name: plain(option.value) for option in self.trace.options}

    def said(self, name: str) -> tuple[Any, str, str]:
        """An option's last value, its source and `file:line` that states it."""
        value = next(each.value for each in reversed(self.trace.options) if each.name == name)
        line = value.lines[0]
        return plain(value), value.source, f"{line.file}:{line.line}"

    def told(self, callee: str) -> dict[str, Any]:
        """What a call of a library is given."""
        call = next(each for each in self.trace.calls if each.callee == callee)
        return {name: plain(value) for name, value in call.keywords.items()}


def job(
    directory: Path,
    command: str,
    files: Mapping[str, str],
    environment: Mapping[str, Word] | None = None,
) -> Job:
    """`command` is the entry point and its words."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    words = command_words(shlex.split(command))
    reach = Files(directory, "root")
    entry = directory / words[0].text
    run = PythonRun(
        entry=Entry(name=words[0].text, source=reach.read(entry), import_root=entry.parent),
        arguments=words[1:],
        command=words[0],
        env=dict(environment or {}),
    )
    return Job(
        interpret(
            run, reach, models=MODELS, wrappers=WRAPPERS, libraries=RUNTIME, read_config=read
        ).trace
    )

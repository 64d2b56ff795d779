"""Runs of tools as the shell would find them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from advisor.options.configs.job_files import JobFiles
from schedmate.advisor.frameworks.tools import tool_for
from schedmate.advisor.interpret.shell import command_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.sources.files import SourceFile


def run_of(command: str, source: str | None = None) -> PythonRun:
    """`command` starts with the program, the file, or `-m` and the module."""
    words = command_words(shlex.split(command))
    taken = 2 if words[0].text == "-m" else 1
    name = " ".join(word.text for word in words[:taken])
    file = None if source is None else SourceFile(name, source, Path(name))
    entry = Entry(name=name, source=file, import_root=Path())
    return PythonRun(entry=entry, arguments=words[taken:], command=words[taken - 1])


def said(
    command: str, files: dict[str, str] | None = None, source: str | None = None
) -> list[Claim]:
    run = run_of(command, source)
    tool = tool_for(run)
    assert tool is not None, command
    return list(tool(run, JobFiles(files or {})))


def fields(command: str, files: dict[str, str] | None = None, source: str | None = None) -> Any:
    """What is said, by field; a field that is said twice keeps what was said first."""
    found: dict[str, Any] = {}
    for each in said(command, files, source):
        found.setdefault(each.field, each.value.data)
    return found

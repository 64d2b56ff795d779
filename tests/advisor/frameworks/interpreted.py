"""A job's code interpreted for real, and what the readers say of it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from advisor.frameworks.families import OTHER_FAMILIES
from schedmate.advisor.frameworks.base import Reader, Reading
from schedmate.advisor.frameworks.runtime import RUNTIME
from schedmate.advisor.interpret.python.interpretation import interpret
from schedmate.advisor.interpret.shell import command_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.options import MODELS, WRAPPERS
from schedmate.advisor.options.configs import read
from schedmate.advisor.sources.files import Files


def said(
    directory: Path,
    code: str,
    *arguments: str,
    entry: str = "train.py",
    readers: tuple[Reader, ...] = OTHER_FAMILIES,
) -> dict[str, Any]:
    """Each field with the first value said of it, and no field with two."""
    found: dict[str, Any] = {}
    for each in statements(directory, code, *arguments, entry=entry, readers=readers):
        known = found.setdefault(each.field, each.value.data)
        assert known == each.value.data, f"{each.field} is both {known} and {each.value.data}"
    return found


def statements(
    directory: Path,
    code: str,
    *arguments: str,
    entry: str = "train.py",
    readers: tuple[Reader, ...] = OTHER_FAMILIES,
):
    path = directory / entry
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(code))
    files = Files(directory, "root")
    words = command_words(["python", entry, *arguments])
    run = PythonRun(
        entry=Entry(name=entry, source=files.read(path), import_root=path.parent),
        arguments=words[2:],
        command=words[1],
    )
    trace = interpret(
        run, files, models=MODELS, wrappers=WRAPPERS, libraries=RUNTIME, read_config=read
    ).trace
    options = {option.name: option.value for option in trace.options}
    reading = Reading(run=run, trace=trace, options=options)
    return [each for reader in readers for each in reader(reading)]

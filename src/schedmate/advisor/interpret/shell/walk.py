"""Reads a script as a shell would run it, and keeps the commands it ends in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schedmate.advisor.interpret.shell.commands import ShellScript, merged
from schedmate.advisor.interpret.shell.machine import Machine
from schedmate.advisor.interpret.shell.parser import parse
from schedmate.advisor.interpret.shell.scope import Surroundings
from schedmate.advisor.interpret.shell.simple import SimpleCommands
from schedmate.advisor.interpret.shell.spans import quote
from schedmate.advisor.interpret.shell.words import Word
from schedmate.advisor.sources.files import SourceFile


class _Nowhere:
    """Surroundings in which there are no files."""

    def read(self, path: str, cwd: str | None) -> SourceFile | None:  # noqa: ARG002 - there is none
        return None

    def exists(self, path: str, cwd: str | None) -> bool:  # noqa: ARG002 - there is none
        return False

    def directory(self, path: str, cwd: str | None) -> str | None:  # noqa: ARG002 - there is none
        return None


def walk(
    source: SourceFile,
    arguments: Sequence[Word],
    *,
    set_before: Mapping[str, Word] | None = None,
    exported: Mapping[str, Word] | None = None,
    surroundings: Surroundings | None = None,
    cwd: str | None = ".",
    doubtful: Iterable[str] = (),
    all_ways: bool = False,
) -> ShellScript:
    """Read a script that gets these arguments and finds these variables set; with `all_ways`
    every branch of it, as if nothing decided between them."""
    around = surroundings or _Nowhere()
    machine = Machine(source, around, SimpleCommands(), all_ways=all_ways)
    machine.state.arguments = tuple(quote(word) for word in arguments)
    for name, word in {**(set_before or {}), **(exported or {})}.items():
        machine.state.values[name] = quote(word)
    machine.state.cwd = cwd
    machine.doubtful |= set(doubtful)
    machine.state.exported = dict(exported or {})
    machine.run(parse(source.text))
    return ShellScript(
        source,
        tuple(command for _, command in machine.commands),
        {name: word.text for name, word in machine.state.exported.items()},
        machine.written,
        tuple(machine.sourced),
        tuple(command for _, command in merged(machine.captured_commands)),
        frozenset(machine.presumed),
    )

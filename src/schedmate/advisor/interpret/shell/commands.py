"""Commands as a script would run them, and how those of a loop's rounds become one."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from schedmate.advisor.interpret.shell.words import Word
from schedmate.advisor.sources.files import SourceFile

Site = tuple[int, ...]
"""Where in the script a command stands: its node, and the calls that led there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A simple command as it would be run, and where."""

    words: tuple[Word, ...]
    env: Mapping[str, Word]
    """Exported variables and those set for this command alone."""
    cwd: str | None
    """Relative to where the script starts, or absolute; None where unknown."""
    conditional: bool
    piped: bool = False
    """Whether it reads what the command before it writes."""
    outputs: tuple[Word, ...] = ()
    stdin: SourceFile | None = None
    """A here-document; its lines are numbered as in the script."""
    varies: bool = False
    """Whether it runs several times, with other words each time."""


_CHANGES = "$…"
_FILES = (".py", ".sh", ".sbatch", ".slurm", ".job", ".yaml", ".yml", ".json", ".toml")


@dataclass(frozen=True, slots=True)
class ShellScript:
    """`exports` are the variables that its commands find in their environment, `written` the
    files that it writes itself, by name."""

    source: SourceFile
    commands: tuple[Command, ...]
    exports: Mapping[str, str]
    written: Mapping[str, SourceFile] = field(default_factory=dict)
    sourced: tuple[SourceFile, ...] = ()
    captured: tuple[Command, ...] = ()
    """Commands whose output it takes: `id=$(sbatch job.sh)`."""
    presumed: frozenset[tuple[str, int]] = frozenset()
    """Lines that run because a variable is set nowhere, by their file and number."""


def merged(commands: list[tuple[Site, Command]]) -> list[tuple[Site, Command]]:
    """One command for each place in a loop; words that change from round to round are unknown."""
    by_site: dict[Site, Command] = {}
    for site, command in commands:
        earlier = by_site.get(site)
        by_site[site] = command if earlier is None else _both(earlier, command)
    return list(by_site.items())


def in_common(scripts: Sequence[ShellScript]) -> ShellScript:
    """What several runs of one script have in common; the first, where they go different ways."""
    first, *others = scripts
    commands = first.commands
    for other in others:
        if len(other.commands) == len(commands):
            pairs = zip(commands, other.commands, strict=True)
            commands = tuple(_both(mine, theirs) for mine, theirs in pairs)
    return replace(first, commands=commands)


def _both(one: Command, other: Command) -> Command:
    pairs = zip(one.words, other.words, strict=False)
    words = [_agreed(mine, theirs) for mine, theirs in pairs]
    words += [replace(word, known=False) for word in one.words[len(words) :]]
    env = {
        name: _agreed(word, other.env[name]) if name in other.env else word
        for name, word in one.env.items()
    }
    outputs = tuple(word for word in one.outputs if word in other.outputs)
    varies = one.varies or any(
        word.text != each.text for word, each in zip(one.words, other.words, strict=False)
    )
    return replace(one, words=tuple(words), env=env, outputs=outputs, varies=varies)


def _agreed(one: Word, other: Word) -> Word:
    """Of paths that change from round to round the part that does not; a file that is run or read
    is the first round's."""
    if one.text == other.text:
        return one
    shared = posixpath.commonprefix([one.text.removesuffix(_CHANGES), other.text])
    if "/" not in shared or one.text.endswith(_FILES):
        return replace(one, known=False)
    return replace(one, text=f"{shared}{_CHANGES}", known=False, spans=())

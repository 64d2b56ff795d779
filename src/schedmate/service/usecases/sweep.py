"""Many runs from one command line: a grid of options, or a file of commands."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schedmate.model import BadInput, NotFound
from schedmate.service.usecases import sbatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_RUNS: Final = 10_000
_RANGE: Final = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})(?::(\d{1,9}))?", re.ASCII)
_SHELL: Final = re.compile(r"[|&;<>$`()*?~#\n]|^\w+=")
"""What only a shell understands in a line."""
_LONGEST_FILE: Final = 16 << 20

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What `--sweep` varies, or the commands of the file that `--commands` names."""

    parameters: tuple[tuple[str, Words], ...] = ()
    commands: tuple[Words, ...] = ()
    name: str = ""
    most: int | None = None
    """So many run at once."""


def take_sweep(words: Sequence[str]) -> tuple[Sweep | None, Sequence[str]]:
    """The sweep, where there is one, and the words without it."""
    files, words = sbatch.take_own(words, "--commands")
    stated, words = sbatch.take_own(words, "--sweep")
    if len(files) > 1 or (files and stated):
        raise BadInput("submit one file of --commands or one --sweep at a time")
    if files:
        path, most = _throttled(files[0])
        commands = tuple(read_commands(Path(path)))
        return Sweep(commands=commands, name=Path(path).name, most=most), words
    if not stated:
        return None, words
    stated[-1], most = _throttled(stated[-1])
    return Sweep(tuple(map(_parameter, stated)), most=most), words


def _throttled(word: str) -> tuple[str, int | None]:
    """`seed=1..50%4`, as in --array: no more than four at once."""
    text, found, most = word.rpartition("%")
    if found and most.isascii() and most.isdecimal() and int(most):
        return text, int(most)
    return word, None


def _parameter(word: str) -> tuple[str, Words]:
    found = sbatch.PARAMETER.fullmatch(word)
    values = found and tuple(value for part in found[2].split(",") for value in _values(part))
    if not found or not values or not all(values):
        raise BadInput(f"--sweep wants NAME=VALUE,VALUE or NAME=FIRST..LAST, not {word!r}")
    return found[1], values


def _values(part: str) -> Iterator[str]:
    """`1..5` and `10..50:10` are whole numbers with both ends; all else is a value itself."""
    found = _RANGE.fullmatch(part)
    if found is None:
        yield part
        return
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if not step or last < first or (last - first) // step >= MOST_RUNS:
        raise BadInput(f"--sweep: {part} ends before it begins, or has more than {MOST_RUNS} steps")
    yield from map(str, range(first, last + 1, step))


def commands_of(sweep: Sweep, command: Words) -> list[Words]:
    """Each combination of the grid as a command: a `{name}` is filled in, where none is written
    `--name VALUE` is appended."""
    names = [name for name, _ in sweep.parameters]
    if len(set(names)) < len(names):
        raise BadInput("--sweep names a parameter twice")
    count = 1
    for _, values in sweep.parameters:
        count *= len(values)
    if count > MOST_RUNS:
        raise BadInput(f"--sweep would be {count} jobs; at most {MOST_RUNS} are taken at once")
    written = {name for name in names if any(f"{{{name}}}" in word for word in command)}
    return [
        _filled(command, dict(zip(names, chosen, strict=True)), written)
        for chosen in product(*(values for _, values in sweep.parameters))
    ]


def _filled(command: Words, chosen: dict[str, str], written: set[str]) -> Words:
    words = list(command)
    for name in written:
        words = [word.replace(f"{{{name}}}", chosen[name]) for word in words]
    for name, value in chosen.items():
        if name not in written:
            words += [f"--{name}", value]
    return tuple(words)


def read_commands(path: Path) -> list[Words]:
    """A command a line; empty lines and those that begin with # are left out."""
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST_FILE + 1)
        lines = content.decode("utf-8").splitlines()
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    if len(content) > _LONGEST_FILE:
        raise BadInput(f"{path} is larger than {_LONGEST_FILE >> 20} MB")
    stated = [line.strip() for line in lines]
    found = [_words(line) for line in stated if line and not line.startswith("#")]
    if not found:
        raise BadInput(f"{path} has no command")
    if len(found) > MOST_RUNS:
        raise BadInput(f"{path} has {len(found)} commands; at most {MOST_RUNS} are taken at once")
    return found


def _words(line: str) -> Words:
    """As they are, or with a shell around them where one is needed."""
    if _SHELL.search(line) is None:
        try:
            return tuple(shlex.split(line))
        except ValueError:
            pass
    return ("/bin/sh", "-c", line)

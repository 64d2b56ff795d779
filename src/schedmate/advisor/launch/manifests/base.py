"""What a job file describes: commands, where they run and what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.sources.files import SourceFile
from schedmate.model import Evidence

Mounts = tuple[tuple[str, str], ...]
"""Directories of a container and what they are in the job's own tree, the nearest first."""
_MAX_COUNT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One command of a job file; its words may be empty where the image has them."""

    words: tuple[Word, ...] = ()
    env: Mapping[str, Word] = field(default_factory=dict)
    cwd: str | None = None
    mounts: Mounts = ()
    asked: Asked = field(default_factory=lambda: Asked({}))
    written: Mapping[str, SourceFile] = field(default_factory=dict)
    """Files that the job file holds itself, by the path that its command has for them."""
    entrypoint: tuple[Word, ...] | None = None
    """In place of the image's own."""
    image: str | None = None
    """The file that its image is built from, where it is named."""
    context: str = "."
    """The directory that its image is built in."""
    in_container: bool = False


Read = Callable[[Path], SourceFile | None]


def shell_text(text: Word) -> tuple[Word, ...]:
    return (Word("bash", text.evidence), Word("-c", text.evidence), text)


def asking(**counts: tuple[int, Evidence] | None) -> Asked:
    """Options of the scheduler by name, those that are not None."""
    return Asked(
        {
            name.replace("_", "-"): (str(min(count[0], _MAX_COUNT)), count[1])
            for name, count in counts.items()
            if count is not None and count[0] > 0
        }
    )

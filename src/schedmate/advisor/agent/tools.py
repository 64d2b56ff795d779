"""What a model may do in a job's directory: list, read and search, within a budget.

`Files` is the only way to a file, so nothing outside the directory is reached, not even by a
link, and nothing that the job's user may not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from schedmate.advisor.sources.files import Files, SourceFile
from schedmate.advisor.sources.words import words
from schedmate.model.redaction import redact

_SKIPPED: Final = words(
    ".git .hg .svn .venv venv env node_modules __pycache__ .tox .mypy_cache .ruff_cache wandb "
    "site-packages .ipynb_checkpoints .cache mlruns lightning_logs"
)
_TEXTS: Final = words(
    ".py .yaml .yml .json .toml .sh .bash .slurm .sbatch .pbs .lsf .cfg .ini .conf .txt .md "
    ".gin .ipynb .jsonnet .env"
)
_MOST_LISTED: Final = 80
_MOST_WALKED: Final = 4000
_MOST_LINES: Final = 60
_MOST_FOUND: Final = 25
_WIDTH: Final = 140


@dataclass(slots=True)
class Desk:
    """`bytes_left` is what may still be read of files, `characters_left` what may be shown."""

    files: Files
    bytes_left: int = 4_000_000
    characters_left: int = 16_000
    _listed: list[str] | None = field(default=None, repr=False)

    def listing(self, under: str = "") -> str:
        """Names of text files, the shallow ones first."""
        names = [name for name in self._names() if name.startswith(under.strip("./"))]
        more = f"\n… {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
        return self._show("\n".join(names[:_MOST_LISTED]) + more)

    def read(self, argument: str) -> str:
        """`train.py` or `train.py:120`: some lines from there on, with their numbers."""
        name, _, start = argument.partition(":")
        source = self.open(name)
        if source is None:
            return "there is no such file"
        first = max(1, int(start)) if start.isdecimal() else 1
        lines = source.lines()[first - 1 : first - 1 + _MOST_LINES]
        return self._show("\n".join(_shown(n, line) for n, line in enumerate(lines, first)))

    def search(self, wanted: str) -> str:
        """Lines that have one of the words in them, whatever their case."""
        parts = [word.lower() for word in wanted.split()[:8] if len(word) > 1]
        found: list[str] = []
        for name in self._names():
            source = self.open(name) if parts and len(found) < _MOST_FOUND else None
            for number, line in enumerate(source.lines() if source else (), 1):
                if any(word in line.lower() for word in parts):
                    found.append(f"{name}:{_shown(number, line)}")
        return self._show("\n".join(found[:_MOST_FOUND]) or "nothing found")

    def open(self, name: str) -> SourceFile | None:
        path = Path(os.path.normpath(self.files.workdir / name))
        if self.bytes_left <= 0 or not _is_text(path):
            return None
        source = self.files.read(path, inside=(self.files.workdir,))
        self.bytes_left -= 0 if source is None else len(source.text)
        return source

    def _names(self) -> list[str]:
        if self._listed is None:
            self._listed = sorted(_walk(self.files), key=lambda name: (name.count("/"), name))
        return self._listed

    def _show(self, text: str) -> str:
        shown = redact(text)[: max(0, self.characters_left)]
        self.characters_left -= len(shown)
        return shown.replace("<|", "< ").replace("|>", " >")


def _shown(number: int, line: str) -> str:
    return f"{number}: {line[:_WIDTH].rstrip()}"


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in _TEXTS and not _SKIPPED.intersection(path.parts)


def _walk(files: Files) -> Iterator[str]:
    walked = 0
    for folder, folders, names in os.walk(files.workdir, followlinks=False):
        folders[:] = sorted(each for each in folders if each not in _SKIPPED)
        for name in sorted(names):
            walked += 1
            if walked > _MOST_WALKED:
                return
            path = Path(folder, name)
            if path.suffix.lower() in _TEXTS:
                yield files.name_of(path)

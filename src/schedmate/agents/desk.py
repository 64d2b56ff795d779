"""Lists, reads and searches in one directory with the rights of its reader, within a budget."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from schedmate.files import entries, is_directory, is_file, place_of
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.files import Reader


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SKIPPED: Final = _words(
    ".git .hg .svn .venv venv env node_modules __pycache__ .tox .mypy_cache .ruff_cache wandb "
    "site-packages .ipynb_checkpoints .cache mlruns lightning_logs .ssh .aws .gnupg"
)
_TEXTS: Final = _words(
    ".py .yaml .yml .json .toml .sh .bash .slurm .sbatch .pbs .lsf .cfg .ini .conf .txt .md "
    ".gin .ipynb .jsonnet .r .jl .cu .cpp .c .h .rs .lua"
)
_MOST_BYTES: Final = 1_000_000
_MOST_LISTED: Final = 80
_MOST_WALKED: Final = 4000
_DEEPEST: Final = 8
_MOST_LINES: Final = 80
_MOST_FOUND: Final = 25
_WIDTH: Final = 160
_NUMBER: Final = re.compile(r"(.+?):(\d{1,7})(?:-(\d{1,7}))?$")


@dataclass
class DirectoryDesk:
    """Text files under `root`, out of which not even a link leads.

    `digests` are those of exactly the files that were read, by name.
    """

    root: str
    reader: Reader
    characters_left: int = 24_000
    bytes_left: int = 8_000_000
    digests: dict[str, str] = field(default_factory=dict)

    def list_files(self, argument: str = "") -> str:
        """Names of text files, the shallow ones first."""
        under = "" if argument.strip() in (".", "./", "/") else argument.strip().removeprefix("./")
        names = [name for name in self._names if name.startswith(under)]
        more = f"\n… {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
        return self._show("\n".join(names[:_MOST_LISTED]) + more or "no text files")

    def read_file(self, argument: str) -> str:
        """`train.py`, `train.py:120` or `train.py:120-160`: lines with their numbers."""
        name, first, last = _place(argument)
        lines = self.lines_of(name)
        if lines is None:
            return "there is no such text file"
        end = min(last or first + _MOST_LINES - 1, first + 2 * _MOST_LINES)
        some = lines[first - 1 : end]
        more = f"\n… {len(lines)} lines in all" if end < len(lines) else ""
        return self._show("\n".join(_shown(n, line) for n, line in enumerate(some, first)) + more)

    def search(self, argument: str) -> str:
        """Lines that have one of the words in them, whatever their case."""
        parts = [word.lower() for word in argument.split()[:8] if len(word) > 1]
        found: list[str] = []
        for name in self._names:
            if not parts or len(found) >= _MOST_FOUND:
                break
            for number, line in enumerate(self.lines_of(name) or (), 1):
                if any(word in line.lower() for word in parts):
                    found.append(f"{name}:{_shown(number, line)}")
        return self._show("\n".join(found[:_MOST_FOUND]) or "nothing found")

    def lines_of(self, name: str) -> list[str] | None:
        """None where it is no text file that may be read here."""
        path = os.path.normpath(os.path.join(self.root, name))  # noqa: PTH118 - names, not files
        if not _is_text(PurePosixPath(path)) or not self._is_inside(path) or self.bytes_left <= 0:
            return None
        data = self._bytes(path)
        if data is None or b"\0" in data:
            return None
        self.bytes_left -= len(data)
        self.digests[os.path.relpath(path, self.root)] = hashlib.sha256(data).hexdigest()[:32]
        return data.decode("utf-8", "replace").splitlines()

    def _bytes(self, path: str) -> bytes | None:
        try:
            with open(self.reader.open(path), "rb", buffering=0) as file:  # noqa: PTH123 - by descriptor
                if not self._is_inside(place_of(file.fileno()) or os.path.realpath(path)):
                    return None
                data = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= _MOST_BYTES else None

    def _is_inside(self, path: str) -> bool:
        roots = {os.path.abspath(self.root), os.path.realpath(self.root)}  # noqa: PTH100 - strings
        return any(path.startswith(f"{root.rstrip('/')}/") for root in roots)

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._walk(), key=lambda name: (name.count("/"), name))

    def _walk(self) -> Iterator[str]:
        left, waiting = _MOST_WALKED, [""]
        while waiting and left > 0:
            under = waiting.pop(0)
            folder = os.path.join(self.root, under)  # noqa: PTH118 - names, not files
            try:
                found = sorted(entries(self.reader, folder, left), key=lambda each: each.name)
            except OSError:
                continue
            left -= len(found)
            for each in found:
                name = f"{under}/{each.name}" if under else each.name
                if each.kind != "link" and is_directory(self.reader, folder, each):
                    if each.name not in _SKIPPED and name.count("/") < _DEEPEST:
                        waiting.append(name)
                elif _is_text(PurePosixPath(name)) and is_file(self.reader, folder, each):
                    yield name

    def _show(self, text: str) -> str:
        shown = redact(text)[: max(0, self.characters_left)]
        self.characters_left -= len(shown)
        return shown.replace("<|", "< ").replace("|>", " >")


def _place(argument: str) -> tuple[str, int, int | None]:
    found = _NUMBER.fullmatch(argument.strip())
    if found is None:
        return argument.strip(), 1, None
    return found[1], max(1, int(found[2])), int(found[3]) if found[3] else None


def _shown(number: int, line: str) -> str:
    return f"{number}: {line[:_WIDTH].rstrip()}"


def _is_text(path: PurePosixPath) -> bool:
    return path.suffix.lower() in _TEXTS and not _SKIPPED.intersection(path.parts)

"""The files a job consists of, read with care: they belong to somebody else.

Only regular files of a sane size are read, and only what the job's user may read too.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedmate.advisor.permissions import may_read
from schedmate.model import Evidence
from schedmate.model.redaction import redact

MAX_BYTES = 1_000_000
_MAX_EVIDENCE = 200
_MAX_LINE = 2000
"""Long enough that a secret which begins in what is shown also ends in what is searched."""
_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`name` is what a person calls it: relative to the job's directory where it lies in it."""

    name: str
    text: str
    path: Path | None = None

    @property
    def digest(self) -> str:
        return digest(self.text)

    def lines(self) -> list[str]:
        return _NEWLINE.split(self.text)


def digest(*parts: str) -> str:
    """Hash parts so that moving text from one to the next changes the hash."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.hexdigest()[:32]


def evidence(file: str, line: int, text: str) -> Evidence:
    """A line as it may be shown and stored."""
    return Evidence(file, line, redact(text.strip()[:_MAX_LINE])[:_MAX_EVIDENCE])


@dataclass(frozen=True, slots=True)
class Files:
    """The files within reach of one job.

    `written` are those that its script writes before anything reads them, by name; `seen` is
    what was looked at so far, with its digest, or None where there was nothing to read.
    """

    workdir: Path
    user: str
    written: Mapping[str, SourceFile] = field(default_factory=dict)
    seen: dict[Path, str | None] = field(default_factory=dict, compare=False)

    def read(self, path: Path, *, inside: tuple[Path, ...] = ()) -> SourceFile | None:
        """A text file; None where there is none, or none that may be read.

        `inside` are directories out of which not even a link may lead.
        """
        written = self.written.get(self.name_of(path)) if self.written else None
        if written is not None:
            return written
        data = self.read_bytes(path, inside=inside)
        if data is None or b"\0" in data:
            self.seen[path] = None
            return None
        source = SourceFile(self.name_of(path), _decode(data), path)
        self.seen[path] = source.digest
        return source

    def read_bytes(self, path: Path, *, inside: tuple[Path, ...] = ()) -> bytes | None:
        try:
            real = path.resolve()
            if not stat.S_ISREG(real.stat().st_mode):
                return None
            if inside and not any(real.is_relative_to(root.resolve()) for root in inside):
                return None
            if not may_read(self.user, real, workdir=self.workdir):
                return None
            return _read_regular(real)
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
            return None

    def name_of(self, path: Path) -> str:
        """Relative to the job's directory where it lies in it."""
        try:
            return os.path.normpath(path.absolute().relative_to(self.workdir.absolute()))
        except ValueError:
            return str(path)


def _read_regular(real: Path) -> bytes | None:
    handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(handle, "rb") as file:  # noqa: PTH123 - the handle is checked, a path is not
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        data = file.read(MAX_BYTES + 1)
    return data if len(data) <= MAX_BYTES else None


def _decode(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("utf-8", "replace")

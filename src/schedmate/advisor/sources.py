"""The files a job consists of, read with care: they belong to somebody else.

Only regular files of a sane size are read. Outside the job's directory, or behind a link that
leads there, only what everybody may read: the daemon may have more rights than the job's user,
and a line of what it reads is shown to that user.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import tokenize
from dataclasses import dataclass
from pathlib import Path

from schedmate.advisor.secrets import redact
from schedmate.model import Evidence

MAX_BYTES = 1_000_000
_MAX_EVIDENCE = 200
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
    return Evidence(file, line, redact(text.strip())[:_MAX_EVIDENCE])


def read_source(path: Path, *, within: Path) -> SourceFile | None:
    """Read a file of the job in `within`; None where there is none that may be read."""
    data = read_bytes(path, within=within)
    if data is None or b"\0" in data:
        return None
    return SourceFile(name_in(within, path), _decode(data), path)


def read_bytes(path: Path, *, within: Path) -> bytes | None:
    try:
        real = path.resolve()
        if not stat.S_ISREG(real.stat().st_mode):
            return None
        if not real.is_relative_to(within.resolve()) and not _public(real):
            return None
        return _read_regular(real)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
        return None


def name_in(directory: Path, path: Path) -> str:
    try:
        return os.path.normpath(path.absolute().relative_to(directory.absolute()))
    except ValueError:
        return str(path)


def _public(real: Path) -> bool:
    if not real.stat().st_mode & stat.S_IROTH:
        return False
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in real.parents)


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

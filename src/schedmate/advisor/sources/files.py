"""The files a job consists of, read with care: they are another user's.

Only regular files of a sane size are read, and only what the job's user may read too.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import stat
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedmate.advisor.sources.directories import Directories, within
from schedmate.files import INVOKER, Reader, files_of, mode_of, place_of
from schedmate.model import Evidence
from schedmate.model.redaction import redact

MAX_BYTES = 1_000_000
_MAX_EVIDENCE = 200
_MAX_LINE = 2000
"""Long enough that a secret which begins in what is shown also ends in what is searched."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
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

    `written` are those that its script writes before anything reads them, by name; `beside` are
    directories of the job besides its own: that of a Python script which lies elsewhere. `seen`
    is what was looked at so far, with its digest, or None where there was nothing to read.
    `by` reads what a person names on the command line; else all is read as the job's user could.
    """

    workdir: Path
    user: str
    written: Mapping[str, SourceFile] = field(default_factory=dict)
    seen: dict[Path, str | None] = field(default_factory=dict, compare=False)
    beside: tuple[Path, ...] = ()
    directories: Directories = field(default_factory=Directories, compare=False)
    by: Reader | None = None

    def __post_init__(self) -> None:
        self.directories.reader = self.reader
        self.directories.allow(map(str, self.roots))

    @property
    def reader(self) -> Reader:
        return self.by or files_of(self.user)

    def may_be_there(self, path: Path) -> bool:
        """False where it is known not to be."""
        try:
            self.reader.stat(str(path))
        except OSError as error:
            return error.errno not in _NOT_THERE
        return True

    def is_directory(self, path: Path) -> bool:
        return stat.S_ISDIR(mode_of(self.reader, str(path)))

    @property
    def roots(self) -> tuple[Path, ...]:
        """Where the job's code and configs are; nothing else of them is read."""
        return (self.workdir, *self.beside)

    def read(self, path: Path, *, inside: tuple[Path, ...] = ()) -> SourceFile | None:
        """A text file; None where there is none, or none that may be read.

        `inside` are directories out of which not even a link may lead.
        """
        written = self.written.get(self.name_of(path)) if self.written else None
        if written is not None:
            return replace(written, path=path)
        data = self.read_bytes(path, inside=inside)
        if data is None or b"\0" in data:
            self.seen[path] = None
            return None
        source = SourceFile(self.name_of(path), _decode(data), path)
        self.seen[path] = source.digest
        return source

    def read_bytes(self, path: Path, *, inside: tuple[Path, ...] = ()) -> bytes | None:
        try:
            real = self.directories.real(os.path.abspath(path))  # noqa: PTH100 - strings are fast
            if inside and self.reader is INVOKER and not self._is_inside(real, inside):
                return None
            with open(self.reader.open(real), "rb", buffering=0) as file:  # noqa: PTH123 - by descriptor
                if inside and not self._is_inside(_place_of(file, real), inside):
                    return None  # a link led out, or a directory has become one
                return _all_of(file)
        except (OSError, ValueError):  # a loop of links, a NUL in the name
            return None

    def _is_inside(self, real: str, roots: tuple[Path, ...]) -> bool:
        return any(within(real, self.directories.real_directory(str(root))) for root in roots)

    def name_of(self, path: Path) -> str:
        """Relative to the job's directory where it lies in it or in the project around."""
        plain, own_root = os.fspath(path), os.fspath(self.workdir)
        if plain.startswith(f"{own_root}/") and "/." not in plain and own_root.startswith("/"):
            return plain[len(own_root) + 1 :]
        absolute, root = os.path.abspath(path), os.path.abspath(self.workdir)  # noqa: PTH100 - as above
        if absolute == root:
            return "."
        if within(absolute, root):
            return absolute[len(root.rstrip("/")) + 1 :]
        own = any(within(absolute, os.path.abspath(each)) for each in self.beside)  # noqa: PTH100 - as above
        return os.path.relpath(absolute, root) if own else str(path)


def _all_of(file: io.FileIO) -> bytes | None:
    """At most what is allowed, though the file grows while it is read."""
    if os.fstat(file.fileno()).st_size > MAX_BYTES:
        return None
    parts: list[bytes] = []
    left = MAX_BYTES + 1
    while left > 0:
        part = file.read(left)
        if not part:
            return b"".join(parts)
        parts.append(part)
        left -= len(part)
    return None


def _place_of(file: io.FileIO, real: str) -> str:
    """Where the open file lies; by its name where the system does not say."""
    return place_of(file.fileno()) or os.path.realpath(real)


def _decode(data: bytes) -> str:
    if b"coding" not in data[:400] and not data.startswith(_BYTE_ORDER_MARK):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("utf-8", "replace")

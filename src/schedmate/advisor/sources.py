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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedmate.advisor.directories import Directories, within
from schedmate.advisor.permissions import may_read
from schedmate.model import Evidence
from schedmate.model.redaction import redact

MAX_BYTES = 1_000_000
_MAX_EVIDENCE = 200
_MAX_LINE = 2000
"""Long enough that a secret which begins in what is shown also ends in what is searched."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
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
    """

    workdir: Path
    user: str
    written: Mapping[str, SourceFile] = field(default_factory=dict)
    seen: dict[Path, str | None] = field(default_factory=dict, compare=False)
    beside: tuple[Path, ...] = ()
    directories: Directories = field(default_factory=Directories, compare=False)

    def __post_init__(self) -> None:
        self.directories.allow(map(str, self.roots))

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
            if inside and not self._is_inside(real, inside):
                return None
            if not stat.S_ISREG(os.lstat(real).st_mode):
                return None
            if not may_read(self.user, Path(real), workdir=self.workdir):
                return None
            return _read_regular(real)
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
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


def _read_regular(real: str) -> bytes | None:
    """`real` has no links in it; should it have got one since, nothing is read."""
    handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(handle, "rb", buffering=0) as file:  # noqa: PTH123 - the handle is checked, a path is not
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        if not _is_at(handle, real):
            return None
        return _all_of(file)


def _all_of(file: io.FileIO) -> bytes | None:
    """At most what is allowed, though the file grows while it is read."""
    parts: list[bytes] = []
    left = MAX_BYTES + 1
    while left > 0:
        part = file.read(left)
        if not part:
            return b"".join(parts)
        parts.append(part)
        left -= len(part)
    return None


def _is_at(handle: int, real: str) -> bool:
    """Whether the open file is the one at that place: a directory may have become a link."""
    with suppress(OSError):
        if os.readlink(f"/proc/self/fd/{handle}") == real:  # noqa: PTH115 - not worth an object
            return True
    here, there = os.fstat(handle), os.lstat(os.path.realpath(real))
    same = (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    return same and os.path.realpath(real) == real


def _decode(data: bytes) -> str:
    if b"coding" not in data[:400] and not data.startswith(_BYTE_ORDER_MARK):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return data.decode("utf-8", "replace")

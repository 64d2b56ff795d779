"""Opens a trace file, gzipped or not, by its content."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import IO

from schedmate.model import BadInput, NotFound

_GZIP_MAGIC = b"\x1f\x8b"
_HEAD_BYTES = 65_536
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
_ZIP_MAGIC = b"PK\x03\x04"
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257


def only_a_regular_file(path: Path) -> None:
    """A pipe would let us wait for ever."""
    if not path.exists():
        raise NotFound(f"there is no file {path}")
    if path.is_dir():
        raise BadInput(f"{path} is a directory; name the trace files in it")
    if not path.is_file():
        raise BadInput(f"{path} is no regular file; copy what comes out of it into one")


def why_unreadable(path: Path) -> str | None:
    """What a file is that can be no table at all; most traces are published as archives."""
    with opened_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        return "it is empty"
    if head.startswith(_ZIP_MAGIC) or head.startswith(_TAR_MAGIC, _TAR_MAGIC_AT):
        return "it is an archive: unpack it and name the trace files in it"
    return "it is a binary file" if b"\0" in head else None


def head_bytes(path: Path) -> bytes:
    """The first bytes, unpacked; none of a file that cannot be unpacked."""
    try:
        with _binary(path) as file:
            return file.read(_HEAD_BYTES)
    except _BROKEN_GZIP:
        return b""


def head_lines(path: Path) -> list[str]:
    """The first whole lines; a single line that goes on beyond the head is cut."""
    return head_bytes(path).decode("utf-8-sig", errors="replace").splitlines()


@contextmanager
def opened_bytes(path: Path) -> Iterator[BufferedIOBase]:
    with _told_if_broken(path), _binary(path) as file:
        yield file


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """A user's name in some old encoding is no reason to refuse a trace: replace what is odd."""
    opener = gzip.open if _is_gzip(path) else open
    with (
        _told_if_broken(path),
        opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file,
    ):
        yield file


def _binary(path: Path) -> BufferedIOBase:
    return gzip.open(path, "rb") if _is_gzip(path) else path.open("rb")


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as raw:
        return raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC


@contextmanager
def _told_if_broken(path: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN_GZIP as error:
        raise BadInput(f"{path} is a broken gzip file ({error}); fetch it again") from error

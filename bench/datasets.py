"""Public data sets that are too large for the repository, and how their files are read."""

from __future__ import annotations

import csv
import gzip
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def data_dir() -> Path:
    """SCHEDMATE_DATA, else `shared/data` beside the repository."""
    return Path(os.environ.get("SCHEDMATE_DATA") or ROOT.parent / "shared" / "data")


def required(part: str) -> Path:
    """The directory of one kind of data, for commands that are nothing without it."""
    directory = data_dir() / part
    if not directory.is_dir():
        raise SystemExit(f"{directory} does not exist: set SCHEDMATE_DATA, see bench/README.md")
    return directory


def rows(path: Path) -> Iterator[dict[str, str]]:
    """A table with a header, compressed or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and contents of every file in an archive."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read()

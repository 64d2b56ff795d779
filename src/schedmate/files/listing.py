"""What lies in a directory, and what kind of thing a name stands for."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from schedmate.files.base import Reader

Kind = Literal["file", "directory", "link", "other"]


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    name: str
    inode: int
    kind: Kind


def entries(reader: Reader, directory: str, most: int) -> list[DirectoryEntry]:
    """At most so many, in the order of the file system; links are not followed."""
    opened = reader.open_directory(directory)
    try:
        with os.scandir(opened) as found:
            return [
                DirectoryEntry(each.name, each.inode(), _kind(each)) for each in islice(found, most)
            ]
    finally:
        os.close(opened)


def _kind(entry: os.DirEntry[str]) -> Kind:
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "directory"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "link"  # the file system does not say, so it is asked for with the owner's rights


def is_directory(reader: Reader, directory: str, entry: DirectoryEntry) -> bool:
    """Of a link, what it leads to."""
    if entry.kind == "link":
        return stat.S_ISDIR(mode_of(reader, f"{directory}/{entry.name}"))
    return entry.kind == "directory"


def is_file(reader: Reader, directory: str, entry: DirectoryEntry) -> bool:
    """Of a link, what it leads to."""
    if entry.kind == "link":
        return stat.S_ISREG(mode_of(reader, f"{directory}/{entry.name}"))
    return entry.kind == "file"


def mode_of(reader: Reader, path: str) -> int:
    """What it is; zero where there is nothing that can be seen."""
    try:
        return reader.stat(path).st_mode
    except OSError:
        return 0

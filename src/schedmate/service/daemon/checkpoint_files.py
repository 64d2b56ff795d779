"""What a job has saved, by its files: which checkpoint is the newest, and whether it is whole.

Names and sizes alone are read, with the owner's rights, of a bounded number of files.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from schedmate.files import entries, is_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.files import Reader, Status

_MOST_FILES, _DEEPEST = 400, 3
_TOGETHER_S = 2.0
"""A link or copy of the last checkpoint is written right after it."""
_FILE: Final = re.compile(
    r"\.(?:pt|pth|bin|ckpt|h5|keras|safetensors|npz|pkl|tar|nemo|msgpack|pdparams|distcp)$"
)
_FOLDER: Final = re.compile(
    r"(?:ckpt|checkpoint|step|iter(?:ation)?|epoch|snapshot)[-_=]{0,2}\d", re.IGNORECASE
)
_STEP: Final = re.compile(
    r"(?:step|iter(?:ation)?|ckpt|checkpoint|update)[-_=]{0,2}(\d{1,12})", re.IGNORECASE
)
_UNFINISHED: Final = re.compile(
    r"\.(?:tmp|temp|part|partial|incomplete|writing)\b|^\.?(?:tmp|temp)[-_.]|[-_.]tmp[-_.]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SavedFiles:
    """One checkpoint: a file, or a directory of them. Two that are equal have not changed."""

    path: str
    files: int
    size: int
    newest: float
    """When one of them was last written."""
    unfinished: bool
    """A name shows that it is still being written."""
    step: int | None = None
    """As its name states it, or that of another one that was written with it."""


def saved_at(reader: Reader, path: str) -> SavedFiles | None:
    """The checkpoint of this name; None where there is none, or none that may be read."""
    try:
        found = reader.stat(path)
        inside = _files(reader, path) if stat.S_ISDIR(found.st_mode) else {path: found}
    except OSError:
        return None
    if not inside:
        return None
    return SavedFiles(
        path=path,
        files=len(inside),
        size=sum(one.st_size for one in inside.values()),
        newest=max(one.st_mtime_ns for one in inside.values()) / 1e9,
        unfinished=any(_UNFINISHED.search(name.rpartition("/")[2]) for name in (path, *inside)),
        step=_step_in(path),
    )


def newest_below(reader: Reader, directory: str) -> SavedFiles | None:
    """The checkpoint in this directory that was written last, finished or not."""
    places = _checkpoints(reader, directory, _DEEPEST)
    found = [one for one in (saved_at(reader, path) for path in places) if one is not None]
    newest = max(found, key=lambda one: one.newest, default=None)
    if newest is None or newest.step is not None:
        return newest
    with_it = [one for one in found if newest.newest - one.newest <= _TOGETHER_S]
    return replace(newest, step=next((one.step for one in with_it if one.step is not None), None))


def _step_in(path: str) -> int | None:
    found = _STEP.findall(path.rpartition("/")[2])
    return int(found[-1]) if found else None


def _checkpoints(reader: Reader, directory: str, deep: int) -> Iterator[str]:
    """Of each name of a checkpoint its place; other directories are searched."""
    try:
        inside = entries(reader, directory, _MOST_FILES)
    except OSError:
        return
    for entry in inside:
        path = f"{directory}/{entry.name}"
        if not is_directory(reader, directory, entry):
            if _FILE.search(entry.name) or _UNFINISHED.search(entry.name):
                yield path
        elif _FOLDER.search(entry.name):
            yield path
        elif deep > 1 and not entry.name.startswith("."):
            yield from _checkpoints(reader, path, deep - 1)


def _files(reader: Reader, directory: str, deep: int = 2) -> dict[str, Status]:
    found: dict[str, Status] = {}
    for entry in entries(reader, directory, _MOST_FILES):
        path = f"{directory}/{entry.name}"
        if not is_directory(reader, directory, entry):
            found[path] = reader.stat(path)
        elif deep > 1:
            found |= _files(reader, path, deep - 1)
    return found

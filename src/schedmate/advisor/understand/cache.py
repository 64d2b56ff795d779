"""What was read from a job's files last time, found again by their content.

Which files matter is only known when they have been read, so it takes two steps: what the job
starts (its command line and scripts) leads to the names of the files that were looked at then,
and their content now leads to what was understood. An edit elsewhere changes nothing, a
resubmission reads bytes and parses none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from schedmate.advisor.launch.run import Launch
from schedmate.advisor.launch.target import Target
from schedmate.advisor.sources.files import Files, digest
from schedmate.advisor.understand.understanding import Understanding
from schedmate.model import BadInput, ReadingCache, Request
from schedmate.model.wire import dumps, loads

READER_VERSION = "10"
"""Raised whenever the same files are read into another record."""
_MOST_FILES = 3000


@dataclass(frozen=True, slots=True)
class Recollection:
    cache: ReadingCache
    key: str
    """By what the job starts: its command line, its scripts, its entry points."""

    @classmethod
    def of(
        cls, cache: ReadingCache, target: Target, launch: Launch, *, asks: str = ""
    ) -> Recollection:
        """`asks` is what a model is asked too: what was read without one hides nothing that one
        could tell."""
        entries = [run.entry.source for run in launch.runs if run.entry.source is not None]
        started = (*launch.scripts, *entries)
        parts = [part for source in started for part in (source.name, source.text)]
        commands = ["\0".join(words) for words in (target.command, *launch.commands)]
        version = f"{READER_VERSION}, {asks}" if asks else READER_VERSION
        key = digest(version, *parts, "", *commands, *asked(launch, target.request))
        return cls(cache, key)

    def recall(self, files: Files) -> Understanding | None:
        looked_at = self.cache.cached_reading(self.key)
        if looked_at is None:
            return None
        try:
            _look_again(loads(_LookedAt, looked_at), files)
            body = self.cache.cached_reading(self._content(files))
            return None if body is None else loads(Understanding, body)
        except BadInput:  # written by another version, or not by us
            return None

    def keep(self, files: Files, understood: Understanding) -> None:
        looked_at = _LookedAt.of(files)
        if len(looked_at.files) > _MOST_FILES or len(looked_at.names) > _MOST_FILES:
            return
        self.cache.cache_reading(self.key, dumps(looked_at))
        self.cache.cache_reading(self._content(files), dumps(understood))

    def _content(self, files: Files) -> str:
        seen = {files.name_of(path): read or "" for path, read in files.seen.items()}
        names = {
            files.name_of(Path(directory)): ",".join(f"{n}={k}" for n, k in sorted(asked.items()))
            for directory, asked in files.directories.asked.items()
        }
        both = (*sorted(seen.items()), *sorted(names.items()))
        return digest(self.key, *(part for each in both for part in each))


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """Files that were read or missed, and names that were asked for by directory: a module that
    appears in front of another, and a config where there was none, are noticed."""

    files: tuple[str, ...]
    names: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, files: Files) -> _LookedAt:
        names = {
            files.name_of(Path(directory)): tuple(sorted(asked))
            for directory, asked in files.directories.asked.items()
        }
        return cls(tuple(sorted({files.name_of(path) for path in files.seen})), names)


def _look_again(at: _LookedAt, files: Files) -> None:
    for name in at.files[: _MOST_FILES + 1]:
        files.read(files.workdir / name, inside=files.roots)
    for directory, names in at.names.items():
        place = os.path.normpath(files.workdir / directory)
        for name in names:
            files.directories.kind(place, name)


def asked(launch: Launch, request: Request) -> tuple[str, str]:
    gpus = launch.asked.gpus
    none = "none" if request.no_gpus else 0
    return (
        f"gpus={request.gpus or (gpus[0] if gpus else none)}",
        f"nodes={max(request.nodes, launch.asked.nodes or 1)}",
    )

"""What a job's files told last time, found again by their content.

Which files matter is only known when they have been read, so it takes two steps: what the job
starts (its command line and scripts) leads to the names of the files that were looked at then,
and their content now leads to what was understood. An edit elsewhere changes nothing, a
resubmission reads bytes and parses none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from schedmate.advisor.launch import Launch
from schedmate.advisor.sources import Files, digest
from schedmate.advisor.target import Target
from schedmate.advisor.understanding import Understanding
from schedmate.model import BadInput, ReadingCache, Request
from schedmate.model.wire import dumps, loads

READER_VERSION = "3"
"""Raised whenever the same files are read into another record."""
_MOST_FILES = 3000


@dataclass(frozen=True, slots=True)
class Recollection:
    cache: ReadingCache
    key: str
    """By what the job starts: its command line, its scripts, its entry points."""

    @classmethod
    def of(cls, cache: ReadingCache, target: Target, launch: Launch) -> Recollection:
        entries = [run.entry.source for run in launch.runs if run.entry.source is not None]
        started = (*launch.scripts, *entries)
        parts = [part for source in started for part in (source.name, source.text)]
        commands = ["\0".join(words) for words in (target.command, *launch.commands)]
        key = digest(READER_VERSION, *parts, "", *commands, *asked(launch, target.request))
        return cls(cache, key)

    def recall(self, files: Files) -> Understanding | None:
        names = self.cache.cached_reading(self.key)
        if names is None:
            return None
        try:
            for name in json.loads(names):
                path = files.workdir / name
                files.read(path, inside=() if name.startswith("/") else (files.workdir,))
            body = self.cache.cached_reading(self._content(files))
            return None if body is None else loads(Understanding, body)
        except (BadInput, TypeError, ValueError):  # written by another version, or not by us
            return None

    def keep(self, files: Files, understood: Understanding) -> None:
        if len(files.seen) > _MOST_FILES:
            return
        names = sorted({files.name_of(path) for path in files.seen})
        self.cache.cache_reading(self.key, json.dumps(names))
        self.cache.cache_reading(self._content(files), dumps(understood))

    def _content(self, files: Files) -> str:
        seen = {files.name_of(path): read or "" for path, read in files.seen.items()}
        return digest(self.key, *(part for each in sorted(seen.items()) for part in each))


def asked(launch: Launch, request: Request) -> tuple[str, str]:
    gpus = launch.asked.gpus
    return (
        f"gpus={request.gpus or (gpus[0] if gpus else 0)}",
        f"nodes={max(request.nodes, launch.asked.nodes or 1)}",
    )

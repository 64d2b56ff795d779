"""The folders of ended jobs hold their environments, and secrets among them: they go after a while.

Jobs stay known by their numbers. What waits, runs, or is waited for keeps its folder.
"""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from schedmate.config import LocalSettings
    from schedmate.schedulers.local.entry import EndedFolders
    from schedmate.schedulers.local.layout import Layout
    from schedmate.schedulers.local.queue import QueueFile

_EVERY_S = 3600.0
_DAY_S = 86_400.0
_log = logging.getLogger("schedmate.local")


class FolderRetention:
    def __init__(self, queue: QueueFile, layout: Layout, settings: LocalSettings) -> None:
        self._queue = queue
        self._jobs = layout.jobs
        self._keep_s = settings.keep_days * _DAY_S
        self._most_bytes = int(settings.keep_megabytes * 1e6)
        self._next = 0.0

    def step(self, now: float) -> None:
        """Once an hour; the oldest go first."""
        if now < self._next:
            return
        self._next = now + _EVERY_S
        there = {int(name) for name in _names(self._jobs) if name.isdecimal()}
        ended = [one for one in self._queue.ended_folders() if not there.isdisjoint(one.numbers)]
        old = [one for one in ended if one.end < now - self._keep_s]
        kept = [one for one in ended if one.end >= now - self._keep_s]
        excess = sum(map(_size, (self._jobs / str(one) for one in there))) - self._most_bytes
        excess -= sum(self._remove(one) for one in old)
        for one in kept:
            if excess <= 0:
                return
            excess -= self._remove(one)

    def _remove(self, ended: EndedFolders) -> int:
        """How many bytes that was."""
        freed = 0
        for number in ended.numbers:
            folder = self._jobs / str(number)
            freed += _size(folder)
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        _log.info("deleted what was kept of job %s", ended.numbers[0])
        return freed


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all it takes
    except FileNotFoundError:
        return []


def _size(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(f"{place}/{name}").st_size
    return total

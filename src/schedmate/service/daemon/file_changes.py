"""Files that changed below a job's directory, and which of them are known to be another job's.

A file that anyone in a shared directory could have written is a sign of life of every job there:
a hang beside an active neighbour may be missed, but no healthy job is taken for one.
"""

from __future__ import annotations

import os
import pwd
import re
import stat
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from schedmate.model import JobState
from schedmate.model.processor_budget import ProcessorBudget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from schedmate.files import Reader, Status
    from schedmate.model import Job, JobId

_MOST_FILES = 20_000
_LONGEST_WALK_S, _LONGEST_WAIT_S = 3.0, 15.0
"""Of the processor, and by the clock where a file system does not answer."""
_JOB_NUMBER = re.compile(r"\d{5,}")
"""Shorter numbers in the names of files are epochs and steps."""
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    at: float
    """Seconds since the epoch."""
    uid: int = 0
    mode: int = 0


def changes_below(
    reader: Reader, directory: str, leave_out: str | None = None
) -> list[Change] | None:
    """The files below it, the newest first, up to a large number; hidden ones aside.

    None where that takes too long: a change may be among those that were not reached.
    """
    budget = ProcessorBudget(_LONGEST_WALK_S, _LONGEST_WAIT_S)
    found: list[Change] = []
    for change in _walked(reader, directory, leave_out):
        if budget.is_spent:
            return None
        found.append(change)
        if len(found) >= _MOST_FILES:
            break
    return sorted(found, key=lambda change: change.at, reverse=True)


def _walked(reader: Reader, directory: str, leave_out: str | None) -> Iterator[Change]:
    """Level by level: what a job writes lies near the top, what it reads may be deep and large."""
    level = [os.path.normpath(directory)]
    while level:
        below: list[str] = []
        for folder in level:
            try:
                opened = reader.open_directory(folder)
            except OSError:
                continue
            try:
                with os.scandir(opened) as inside:
                    yield from _changes_in(reader, folder, inside, leave_out, below)
            except OSError:
                continue
            finally:
                os.close(opened)
        level = below


def _changes_in(
    reader: Reader,
    folder: str,
    inside: Iterable[os.DirEntry[str]],
    leave_out: str | None,
    below: list[str],
) -> Iterator[Change]:
    """The files of one directory; its directories are added to those below."""
    for entry in inside:
        path = os.path.join(folder, entry.name)  # noqa: PTH118 - thousands of them
        if entry.name.startswith(".") or path == leave_out:
            continue
        if entry.is_dir(follow_symlinks=False):
            below.append(path)
        elif entry.is_file(follow_symlinks=False):
            status = _status(reader, entry, path)
            if status is not None:
                yield Change(path, status.st_mtime_ns / 1e9, status.st_uid, status.st_mode)


def _status(reader: Reader, entry: os.DirEntry[str], path: str) -> Status | None:
    """By ourselves where the directory lets us, which is much faster than to ask for each."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        pass
    try:
        return reader.stat(path)
    except OSError:
        return None


class Writers:
    """Whose the files of a directory are, by what is known of the jobs that the scheduler lists."""

    def __init__(
        self, listed: Iterable[Job], opened: Mapping[JobId, frozenset[str]] | None = None
    ) -> None:
        """`opened`: what jobs have open for writing, as far as that is known."""
        self._opened = opened or {}
        self._begun = [job for job in listed if job.state is not JobState.PENDING or job.restarts]
        self._logs = {path for job in self._begun for path in _logs(job)}
        self._numbers = {
            number
            for job in self._begun
            if job.state is JobState.RUNNING
            for number in _numbers(job)
        }

    def newest_of(self, job: Job, changes: Sequence[Change]) -> float | None:
        """When a file that may be this job's last changed."""
        own_files, own_numbers = _logs(job) | self._opened.get(job.id, frozenset()), _numbers(job)
        others_files = self._logs.union(*self._opened.values()) - own_files
        strangers = self._strangers(job)
        for change in changes:
            name = change.path.rpartition("/")[2]
            numbers = set(_JOB_NUMBER.findall(name))
            is_others = (
                (change.uid in strangers and not change.mode & _WRITABLE_BY_OTHERS)
                or change.path in others_files
                or (not numbers.isdisjoint(self._numbers) and numbers.isdisjoint(own_numbers))
            )
            if change.path in own_files or not is_others:
                return change.at
        return None

    def _strangers(self, job: Job) -> set[int]:
        """The other users whose jobs have run in its directory, above or below it."""
        own = PurePath(job.workdir)
        places = {(other.user, other.workdir) for other in self._begun if other.user != job.user}
        users = {
            user
            for user, workdir in places
            if own.is_relative_to(workdir) or PurePath(workdir).is_relative_to(own)
        }
        # root writes files of anyone, and a file server may make root's files anyone's
        return set() if _uid(job.user) in (None, 0) else {_uid(user) or 0 for user in users} - {0}


def _logs(job: Job) -> set[str]:
    return {os.path.normpath(path) for path in job.logs}


def _numbers(job: Job) -> set[str]:
    return {number for one in (job.id, *job.components) for number in _JOB_NUMBER.findall(one)}


def _uid(user: str) -> int | None:
    try:
        return pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError, OSError):
        return None

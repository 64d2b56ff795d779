"""The log files of a run: the scheduler's, and those it writes itself."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.files import entries, files_of, mode_of, place_of
from schedmate.logs import logs_at
from schedmate.model import SchedMateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedmate.files import Reader
    from schedmate.model import Job, Workload

MOST_LOGS = 64
_LETTER = re.compile(r"%\d{0,2}([%A-Za-z])")
_GLOB = re.compile(r"([*?[])")
_MOST_ENTRIES = 20_000


def logs_of(job: Job, workload: Workload | None) -> tuple[Path, ...]:
    """The logs that are there now, the scheduler's first; a run may open more later."""
    given = [Path(log) for log in job.logs]
    stated = None if workload is None else workload.log_files
    own = (path for name in (() if stated is None else stated.value) for path in _own(job, name))
    return tuple(islice(dict.fromkeys((*given, *own)), MOST_LOGS))


def _own(job: Job, name: str) -> Iterator[Path]:
    """The files behind a name that the code gives, in the job's directory and nowhere else.

    A name may have Slurm's letters in it, one file for each rank, or be a directory.
    """
    workdir, reader = Path(job.workdir), files_of(job.user)
    pattern = _LETTER.sub(lambda found: _letter(job, found[1]), _GLOB.sub(r"[\1]", name))
    try:
        root = _place(reader.open_directory(str(workdir)))
        relative = (workdir / pattern).relative_to(workdir)
        for found in islice(_named(str(workdir), relative.parts, reader), MOST_LOGS):
            for path in islice(logs_at(found, reader), MOST_LOGS):
                real = _place(reader.open(str(path)))
                if real.is_relative_to(root):
                    yield real
    except (OSError, ValueError, SchedMateError):
        return  # not there, not readable, elsewhere, or no name at all


def _named(top: str, parts: Sequence[str], reader: Reader) -> list[Path]:
    """What is there of a pattern of names, each directory listed with the owner's rights."""
    places = [top]
    for part in parts:
        places = [f"{place}/{name}" for place in places for name in _names(place, part, reader)]
    return [Path(place) for place in sorted(places) if parts and mode_of(reader, place)]


def _names(directory: str, pattern: str, reader: Reader) -> list[str]:
    if not _GLOB.search(pattern):
        return [pattern]
    try:
        found = entries(reader, directory, _MOST_ENTRIES)
    except OSError:
        return []
    return [entry.name for entry in found if fnmatchcase(entry.name, pattern)][:MOST_LOGS]


def _place(opened: int) -> Path:
    """Where an open file lies; closes it."""
    place = place_of(opened)
    os.close(opened)
    if place is None:
        raise FileNotFoundError
    return Path(place)


def _letter(job: Job, letter: str) -> str:
    known = {"%": "%", "j": job.id, "J": job.id, "A": job.id, "x": job.name, "u": job.user}
    return _GLOB.sub(r"[\1]", known[letter]) if letter in known else "*"

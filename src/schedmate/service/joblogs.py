"""The files in which a run tells of its progress: the scheduler's, and those it writes itself."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.advisor.permissions import may_read
from schedmate.logs import logs_at
from schedmate.model import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model import Job, Workload

MOST_LOGS = 64
_LETTER = re.compile(r"%\d{0,2}([%A-Za-z])")
_GLOB = re.compile(r"([*?[])")


def logs_of(job: Job, workload: Workload | None) -> tuple[Path, ...]:
    """All that can be followed now, the scheduler's first; a run may open more of its own later."""
    given = [Path(log) for log in job.logs]
    stated = None if workload is None else workload.log_files
    own = (path for name in (() if stated is None else stated.value) for path in _own(job, name))
    return tuple(islice(dict.fromkeys((*given, *own)), MOST_LOGS))


def _own(job: Job, name: str) -> Iterator[Path]:
    """The files behind a name that the code gives, in the job's directory and nowhere else.

    A name may have Slurm's letters in it, one file for each rank, or be a directory.
    """
    workdir = Path(job.workdir)
    pattern = _LETTER.sub(lambda found: _letter(job, found[1]), _GLOB.sub(r"[\1]", name))
    try:
        root = workdir.resolve()
        relative = (workdir / pattern).relative_to(workdir)
        named = sorted(workdir.glob(str(relative))) if relative.parts else []
        for found in islice(named, MOST_LOGS):
            for path in islice(logs_at(found), MOST_LOGS):
                real = path.resolve()
                if real.is_relative_to(root) and may_read(job.user, real, workdir=workdir):
                    yield real
    except (OSError, RuntimeError, ValueError, NotImplementedError, NotFound):
        return  # not there, not readable, elsewhere, or no name at all


def _letter(job: Job, letter: str) -> str:
    known = {"%": "%", "j": job.id, "J": job.id, "A": job.id, "x": job.name, "u": job.user}
    return _GLOB.sub(r"[\1]", known[letter]) if letter in known else "*"

"""The numbers of an array's tasks, and several jobs in one word, as Slurm writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schedmate.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedmate.model.job import JobId

MOST_TASKS: Final = 10_000
_SPAN: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,7}))?)?", re.ASCII)
_JOBS: Final = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)
_TASKS: Final = re.compile(r"(\d{1,18})_\[([\d,:-]+)\]", re.ASCII)


def read_array(text: str) -> tuple[tuple[int, ...], int | None]:
    """The indices of `0-15:4,20%2`, ascending, and how many may run at once."""
    listed, throttled, most = text.replace(" ", "").partition("%")
    if throttled and not (most.isascii() and most.isdecimal() and int(most)):
        raise BadInput(f"--array wants a number above 0 behind %, not {most!r}")
    return _indices(listed, f"--array={text}"), int(most) if throttled else None


def expand_job_ids(words: Iterable[str]) -> list[JobId]:
    """`1-3` and `12_[1-3,7]` as the jobs that they stand for; other words as they are."""
    found: list[JobId] = []
    for word in words:
        jobs, tasks = _JOBS.fullmatch(word), _TASKS.fullmatch(word)
        if jobs is not None:
            found += map(str, _range(word, int(jobs[1]), int(jobs[2])))
        elif tasks is not None:
            found += (f"{tasks[1]}_{index}" for index in _indices(tasks[2], word))
        else:
            found.append(word)
    return list(dict.fromkeys(found))


def _indices(listed: str, asked: str) -> tuple[int, ...]:
    found: set[int] = set()
    for part in listed.split(","):
        span = _SPAN.fullmatch(part)
        if span is None:
            raise BadInput(f"{asked} wants numbers such as 0-15, 1,3,7 or 0-99:10%4")
        first, last, step = int(span[1]), int(span[2] or span[1]), int(span[3] or 1)
        found.update(_range(asked, first, last, step))
    if len(found) > MOST_TASKS:
        raise BadInput(f"{asked} stands for {len(found)} tasks; at most {MOST_TASKS} are allowed")
    return tuple(sorted(found))


def _range(asked: str, first: int, last: int, step: int = 1) -> range:
    if last < first or not step:
        raise BadInput(f"{asked} ends before it begins, or has no step")
    numbers = range(first, last + 1, step)
    if len(numbers) > MOST_TASKS:
        raise BadInput(f"{asked} stands for too many jobs; at most {MOST_TASKS} are allowed")
    return numbers

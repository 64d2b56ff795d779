"""Years of accounting, a window at a time: runs by when they ended, and the scripts Slurm kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedmate.model import SchedulerError
from schedmate.schedulers.base import AccountedRun
from schedmate.schedulers.slurm import parsing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from schedmate.model import JobId

    Ask = Callable[..., str]

_ENDED = "BF,CA,CD,DL,F,NF,OOM,PR,RQ,TO"
"""With such states accounting selects by the time of the end. RQ: a run after which the job was
queued again."""
_LINE = "SubmitLine"
_TITLE = re.compile(r"^Batch Script for (\S+)\n-{80}\n", re.MULTILINE)
_SCRIPTS_AT_ONCE = 1000


def ended_between(
    ask: Ask, start: float, end: float, user: str | None = None
) -> list[AccountedRun]:
    """See `KeepsHistory`. One sacct; a Slurm before 21.08 has no submit lines."""
    fields = (*parsing.SACCT_FIELDS, _LINE)
    try:
        rows = _rows(ask, fields, start, end, user)
    except SchedulerError as error:
        if "invalid field" not in str(error).lower():
            raise
        rows = _rows(ask, parsing.SACCT_FIELDS, start, end, user)
    runs = [
        AccountedRun(parsing.accounted_job(row, restarts=0), row.get(_LINE, "")) for row in rows
    ]
    return sorted(runs, key=lambda run: (run.job.submit_time, run.job.end_time or 0.0))


def submit_lines(ask: Ask, ids: Sequence[JobId]) -> dict[JobId, str]:
    """See `KnowsSubmitLines`."""
    separator, fields = parsing.new_separator(), ("JobID", _LINE)
    which = ["-j", ",".join(ids), f"--delimiter={separator}", "-o", ",".join(fields)]
    rows = parsing.table(ask("sacct", "-a", "-X", "-p", *which), fields, separator)
    return {row["JobID"].partition("_[")[0]: row[_LINE] for row in rows if row[_LINE]}


def stored_scripts(ask: Ask, ids: Sequence[JobId]) -> dict[JobId, str]:
    """See `KeepsHistory`."""
    found: dict[JobId, str] = {}
    for start in range(0, len(ids), _SCRIPTS_AT_ONCE):
        some = ids[start : start + _SCRIPTS_AT_ONCE]
        batch = scripts_apart(ask("sacct", "-B", "-j", ",".join(some)))
        found.update(batch if batch is not None else _one_by_one(ask, some))
    return found


def _rows(
    ask: Ask, fields: Sequence[str], start: float, end: float, user: str | None
) -> list[parsing.Record]:
    separator = parsing.new_separator()
    whose = ["-a"] if user is None else ["-u", user]
    text = ask(
        *("sacct", "-n", "-X", "-D", "-p", f"--delimiter={separator}", *whose, "-s", _ENDED),
        *("-S", f"uts{int(start)}", "-E", f"uts{int(end) - 1}", "-o", ",".join(fields)),
    )
    return list(parsing.records(text, fields, separator))


def scripts_apart(text: str) -> dict[JobId, str] | None:
    """The scripts in one answer; None where a script holds the title of another.

    Slurm prints one title for each job. A second one of the same job is text that its owner, or
    another job's, wrote to look like one: nothing in such an answer can be trusted.
    """
    titles = list(_TITLE.finditer(text))
    ids = [title[1] for title in titles]
    if len(set(ids)) != len(ids):
        return None
    if not ids:
        return {}
    ends = [*(title.start() for title in titles[1:]), len(text)]
    scripts = {
        title[1]: parsing.stored_script(text[title.start() : end])
        for title, end in zip(titles, ends, strict=True)
    }
    return {job_id: script for job_id, script in scripts.items() if script is not None}


def _one_by_one(ask: Ask, ids: Iterable[JobId]) -> dict[JobId, str]:
    def each() -> Iterator[tuple[JobId, str | None]]:
        for job_id in ids:
            yield job_id, parsing.stored_script(ask("sacct", "-B", "-j", job_id))

    return {job_id: script for job_id, script in each() if script is not None}

"""Verbs that change jobs: each of those that are named, or what would be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.cli._common import echo, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedmate.model import JobId, SchedMateError


def change_jobs(
    chosen: Iterable[JobId],
    change: Callable[[JobId], object],
    would: Callable[[JobId], str],
    *,
    schema: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """A job that is refused keeps no other from being changed; the exit code is the last one's."""
    from schedmate.model import NotFound, SchedulerError, SchedulerUnreachable

    done: list[JobId] = []
    refused: SchedMateError | None = None
    for job_id in chosen:
        try:
            if dry_run:
                echo(would(job_id), err=as_json)
            else:
                change(job_id)
                done.append(job_id)
        except SchedulerUnreachable:
            raise
        except (NotFound, SchedulerError) as error:
            if refused is not None:
                say(str(refused))
            refused = error
    if as_json:
        print_json({"schema": schema, "job_ids": done})
    if refused is not None:
        raise refused

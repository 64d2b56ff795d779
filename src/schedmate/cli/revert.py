"""`schedmate revert`"""

from __future__ import annotations

import re
import time
from contextlib import closing
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import dry_run_option, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.model.action import Reverted

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_MOST_RECORDED = 20
_OUTCOMES = {"undone": "undone", "would_undo": "would be undone", "cannot": "cannot be undone"}


@verb(
    examples="""
schedmate revert --dry-run
schedmate revert --since 1h
schedmate revert --job 12 --json
"""
)
@click.option("--job", "job_id", metavar="ID", help="Only what was done to this job.")
@click.option("--since", metavar="TIME", help="Only what was done in the last 30m, 1h, 2d ...")
@dry_run_option
@json_option
def command(job_id: str | None, since: str | None, dry_run: bool, as_json: bool) -> None:
    """Undo what SchedMate did: nice numbers, time limits, holds, excluded nodes, drains.

    What a person has changed since is left as it is, and what cannot be undone is listed: a job
    that was queued again runs again unless it is cancelled. SchedMate does nothing more to these
    jobs; for jobs that come later, set mode = "observe".
    """
    from schedmate import config
    from schedmate.service.usecases.audit import record_act
    from schedmate.service.usecases.revert import revert
    from schedmate.service.wiring import open_scheduler, open_store

    settings, now = config.load(), time.time()
    begin = 0.0 if since is None else now - _seconds(since)
    with closing(open_store(settings)) as store:
        found = revert(
            open_scheduler(settings), store, now=now, job_id=job_id, since=begin, dry_run=dry_run
        )
        if found and not dry_run:
            about = "all jobs" if job_id is None else f"job {job_id}"
            record_act(store, "revert", about, "; ".join(map(_line, found[:_MOST_RECORDED])))
    if as_json:
        from schedmate.model.wire import to_json

        actions = [to_json(one) for one in found]
        print_json({"schema": "schedmate.reverted/1", "dry_run": dry_run, "actions": actions})
        return
    for one in found:
        echo(_line(one))
    if not found:
        echo("there is nothing to undo", err=True)


def _line(one: Reverted) -> str:
    about = f"node {one.node}" if one.node else f"job {one.job_id}"
    return f"{about}: {one.kind}: {_OUTCOMES[one.outcome]}: {one.text}"


def _seconds(text: str) -> float:
    from schedmate.model import BadInput

    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip())
    if found is None:
        raise BadInput(f"--since wants a time such as 30m, 1h or 2d, not {text!r}")
    return float(found[1]) * _UNITS[found[2]]

"""`schedmate status`"""

from __future__ import annotations

import time
from textwrap import wrap
from typing import TYPE_CHECKING

from schedmate.cli._common import duration, echo, json_option, print_json, verb, width
from schedmate.cli._hosts import OnHost
from schedmate.cli._pausing import paused_words
from schedmate.cli.audit import act_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schedmate.service.views.effects import Effects
    from schedmate.service.views.site_answers import GpuCounts, SiteStatus

_MB = 1e6
_MARGIN = 19
_NOT_NOW = "as a daemon last saw them; now: schedmate jobs"
_HOOK = "set nice_at_submission and install the hook"


@verb(cls=OnHost, examples="schedmate status\nschedmate status --json")
@json_option
def command(as_json: bool) -> None:
    """The daemon, its store, its decisions of a day and who did what; for operators."""
    from contextlib import closing

    from schedmate import config
    from schedmate.cli._site import asked
    from schedmate.service.views.status import site_status
    from schedmate.service.visibility import operators_only
    from schedmate.service.wiring import open_store

    settings = config.load()

    def here() -> SiteStatus:
        operators_only(settings)
        with closing(open_store(settings)) as store:
            return site_status(settings, store, time.time())

    found = asked(settings, lambda client: client.status(), here, for_operators=True)
    if as_json:
        print_json(found)
        return
    for line in _lines(found):
        echo(line)


def _lines(found: SiteStatus) -> Iterator[str]:
    runs = "runs" if found.daemon else "does not run: schedmate serve"
    yield f"schedmate {found.version}, {found.scheduler}, mode {found.mode}; the daemon {runs}"
    if found.paused is not None:
        yield f"  {paused_words(found.paused, time.time())}"
    if found.seen_at is not None:
        yield f"  newest log read  {duration(max(0.0, time.time() - found.seen_at))} ago"
    seen = "" if found.daemon else f", {_NOT_NOW}"
    yield f"  jobs             {_counted(found.jobs)}{seen}"
    if found.gpus is not None:
        yield f"  GPUs             {_gpus(found.gpus)}"
    if found.unread:
        yield f"  unread logs      of {found.unread} failed jobs: schedmate doctor"
    yield f"  decisions, 24 h  {_counted(found.decisions)}"
    yield from _effects(found.effects)
    if found.unordered_starts:
        yield f"  not ordered      {found.unordered_starts} new jobs started first: {_HOOK}"
    size, most = found.store_bytes / _MB, found.retention_bytes / _MB
    yield f"  store            {size:.1f} of {most:.0f} MB, {found.retention_days:.0f} days kept"
    for line in wrap(_counted(found.store_rows), max(_MARGIN, width() - _MARGIN)):
        yield f"{'':{_MARGIN}}{line}"
    yield f"  model, 24 h      {found.llm_tokens_today} of {found.llm_token_budget} tokens"
    waiting = f"{found.subscribers} subscribers, {found.notices_waiting} waiting"
    yield f"  access           {found.tokens_valid} valid tokens; notifications: {waiting}"
    yield from (f"  {act_line(one)}" for one in found.acts)


def _gpus(found: GpuCounts) -> str:
    counts = {
        "run jobs": found.running,
        "used by others": found.withheld,
        "drained": found.drained,
        "free": found.free,
    }
    busy = "" if found.busy is None else f"; {found.busy:.0%} busy in the mean"
    return _counted({name: number for name, number in counts.items() if number}) + busy


def _effects(found: Effects) -> Iterator[str]:
    share, days = found.succeeded_share, f"{found.days:.0f} days"
    succeeded = "none has ended yet" if share is None else f"{share:.0%} then succeeded"
    if found.retries:
        yield f"  retries, {days}  {found.retries}, of which {found.retries_ended} have ended:"
        yield f"                   {succeeded}; {found.rerun_gpu_hours:.1f} GPU hours run again"
    else:
        yield f"  retries, {days}  none"
    if found.overtaken:
        hours = f"{found.gained_hours:.1f} h gained, {found.lost_hours:.1f} h lost"
        users = f"{found.users_gained} users wait less, {found.users_lost} longer"
        yield f"  waiting, {days}  {hours}; {users}"
        yield "                   (estimate, against the order of submission)"
    else:
        yield f"  waiting, {days}  no run overtook another because of SchedMate"
    if found.carried_on:
        yield f"  limits, {days}   {found.carried_on} runs went on after their time limit"
    if found.doomed:
        ended = f"{found.doomed_stopped} stopped, {found.doomed_ended} cancelled by people"
        yield f"  in vain, {days}  {found.doomed} runs went on for nothing: {ended};"
        waited = f"{found.saved_waiting_hours:.1f} h of waiting saved (estimate)"
        yield f"                   {found.saved_gpu_hours:.1f} GPU hours and {waited}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"

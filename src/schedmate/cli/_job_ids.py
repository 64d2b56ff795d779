"""Ids of jobs, as a shell completes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

_MOST = 200


def complete_job_id(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    incomplete: str,
) -> list[CompletionItem]:
    """Those that the daemon saw last, so that the scheduler is not asked at the press of a key."""
    from contextlib import closing, suppress

    from click.shell_completion import CompletionItem

    from schedmate import config
    from schedmate.model import SchedMateError
    from schedmate.service.visibility import viewer_of
    from schedmate.service.wiring import open_scheduler, open_store_for_reading

    try:
        settings = config.load()
        viewer = viewer_of(settings)
        listed = []
        with suppress(SchedMateError), closing(open_store_for_reading(settings)) as store:
            listed = list(store.listed_jobs())
        if settings.scheduler == "local" and not listed:  # no daemon has looked; it is a file
            listed = open_scheduler(settings).jobs()
        jobs = [viewer.job(job) for job in listed if job.id.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a shell has no use for a sentence here
        return []
    return [CompletionItem(job.id, help=f"{job.state} {job.name}") for job in jobs[-_MOST:]]

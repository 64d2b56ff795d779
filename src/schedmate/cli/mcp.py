"""`schedmate mcp`"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import duration, print_json, verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.config import Settings
    from schedmate.service.views.answers import SimilarRuns
    from schedmate.service.views.job_view import JobView


@verb(
    examples="""
schedmate mcp
schedmate mcp --json
claude mcp add schedmate -- schedmate mcp
"""
)
@click.option("--json", "as_json", is_flag=True, help="Print what can be asked, and end.")
def command(as_json: bool) -> None:
    """Serve assistants over stdio (Model Context Protocol); it only looks.

    An assistant can ask why a job failed or waits, when it ends, which past jobs were like it, and
    list the queue: what your account may see, from the site's daemon where the setting `server`
    names one.
    """
    from schedmate import config
    from schedmate.mcp.protocol import McpServer
    from schedmate.mcp.tools import tools_of

    known = _Knowledge(config.load())
    tools = tools_of(known, time.time, duration)
    if as_json:
        described = [tool.described() for tool in tools]
        print_json({"schema": "schedmate.tools/1", "tools": described})
        return
    McpServer(tools).serve(sys.stdin.buffer, sys.stdout.buffer)


class _Knowledge:
    """Fulfils `schedmate.mcp.tools.Knowledge` as the verbs do."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def views(self) -> Sequence[JobView]:
        from schedmate.cli._site import QueueAsked, queue_of

        return list(queue_of(self._settings, QueueAsked()).views)

    def view(self, job_id: str) -> JobView:
        from schedmate.cli._site import sight_of

        return sight_of(self._settings, job_id, first=True).views[0]

    def why(self, job_id: str) -> str:
        from schedmate.cli._site import reasons_of

        return "\n".join(reasons_of(self._settings, job_id)[1])

    def similar(self, job_id: str) -> SimilarRuns:
        from schedmate.cli._site import asked

        return asked(
            self._settings,
            lambda client: client.similar(job_id),
            lambda: self._similar_here(job_id),
        )

    def _similar_here(self, job_id: str) -> SimilarRuns:
        from contextlib import closing

        from schedmate.service.views.similar import similar_runs
        from schedmate.service.visibility import viewer_of
        from schedmate.service.wiring import open_store

        with closing(open_store(self._settings)) as store:
            return similar_runs(self.view(job_id), store, viewer_of(self._settings))

"""`schedmate serve`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, json_option, no_llm_option, print_json, say, verb

if TYPE_CHECKING:
    import threading

    from schedmate.config import Settings


@verb(
    examples="""
schedmate serve
schedmate serve --port 8080
SCHEDMATE_MODE=act schedmate serve
SCHEDMATE_SCHEDULER=slurm schedmate serve --once --json
"""
)
@click.option("--once", is_flag=True, help="Look once, do what follows, and end.")
@click.option("--port", type=click.IntRange(1, 65535), help="Serve pages and API on this port.")
@no_llm_option
@json_option
def command(once: bool, port: int | None, no_llm: bool, as_json: bool) -> None:
    """The daemon: advises, tracks and diagnoses the jobs of the scheduler.

    In mode `observe` (the default) it only writes down what it would do; `assist` also sets
    priorities and limits, `act` also requeues jobs; both within the rights of the
    account that runs it (see: schedmate doctor). With a port, its page and its API
    (/api/v1) are on 127.0.0.1.
    """
    import logging
    from dataclasses import replace

    from schedmate import config
    from schedmate.service.daemon.serving import look_once, stopped_by_signals

    settings = config.load()
    if no_llm:
        settings = replace(settings, llm=replace(settings.llm, enabled=False))
    _warn(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    if once:
        look_once(settings)
    else:
        with stopped_by_signals() as stop:
            echo(f"serving {settings.scheduler} in mode {settings.mode}", err=True)
            _serve(settings, stop, port)
    if as_json:
        print_json({"schema": "schedmate.served/1", "scheduler": settings.scheduler})


def _serve(settings: Settings, stop: threading.Event, port: int | None) -> None:
    from schedmate.service.daemon.serving import serve

    if port is None:
        serve(settings, stop)
        return
    from schedmate.web.server import serving

    with serving(settings, host="127.0.0.1", port=port) as site:
        echo(f"the page is at http://127.0.0.1:{port}/", err=True)
        serve(settings, stop, site.looked)


def _warn(settings: Settings) -> None:
    """What the account and the mode mean together; a scheduler that is down is reported later."""
    from contextlib import suppress

    from schedmate.model import SchedMateError
    from schedmate.service.account import account_at
    from schedmate.service.wiring import open_scheduler

    if settings.mode != "observe":
        with suppress(SchedMateError):
            for warning in account_at(open_scheduler(settings)).warnings(settings.mode):
                say(warning)

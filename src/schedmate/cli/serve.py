"""`schedmate serve`"""

from __future__ import annotations

import click

from schedmate.cli._common import echo, json_option, print_json, verb


@verb(
    examples="""
schedmate serve
SCHEDMATE_MODE=act schedmate serve
SCHEDMATE_SCHEDULER=slurm schedmate serve --once --json
"""
)
@click.option("--once", is_flag=True, help="Look once, do what follows, and end.")
@json_option
def command(once: bool, as_json: bool) -> None:
    """The daemon: follows the scheduler, advises, tracks, diagnoses.

    In mode `observe` (the default) it only writes down what it would do; `assist` also sets
    priorities and limits, `act` also requeues jobs. The REST API, the web page and the
    metrics are not there yet.
    """
    import logging

    from schedmate import config
    from schedmate.service.live import look_once, serve, stopped_by_signals

    settings = config.load()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    if once:
        look_once(settings)
    else:
        echo(f"following {settings.scheduler} in mode {settings.mode}", err=True)
        with stopped_by_signals() as stop:
            serve(settings, stop)
    if as_json:
        print_json({"schema": "schedmate.served/1", "scheduler": settings.scheduler})

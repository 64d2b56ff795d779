"""`schedmate serve`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._common import echo, json_option, no_llm_option, print_json, say, verb

if TYPE_CHECKING:
    from schedmate.config import Settings


@verb(
    examples="""
schedmate serve
schedmate serve --log-file /var/log/schedmate/serve.log
SCHEDMATE_MODE=act schedmate serve
SCHEDMATE_SCHEDULER=slurm schedmate serve --once --json
"""
)
@click.option("--once", is_flag=True, help="Look once, do what follows, and end.")
@click.option(
    "--log-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Log to this file, begun anew at 10 MB, instead of to stderr.",
)
@no_llm_option
@json_option
def command(once: bool, log_file: Path | None, no_llm: bool, as_json: bool) -> None:
    """The daemon: advises, tracks and diagnoses the jobs of the scheduler.

    In mode `observe` (the default) it only writes down what it would do; `assist` also sets
    priorities and limits, `act` also requeues jobs; both within the rights of the
    account that runs it (see: schedmate doctor). SIGHUP makes it read its settings again and
    reopen its log; a file that cannot be used leaves the settings as they were. The REST API,
    the web page and the metrics are not there yet.
    """
    from schedmate.service.daemon.log_output import begin_logging
    from schedmate.service.daemon.serving import look_once, serve
    from schedmate.service.daemon.signals import handled_signals

    settings = _settings(no_llm=no_llm)
    _warn(settings)
    begin_logging(log_file)
    if once:
        look_once(settings)
    else:
        with handled_signals() as signals:
            echo(f"serving {settings.scheduler} in mode {settings.mode}", err=True)
            serve(settings, signals, lambda: _settings(no_llm=no_llm))
    if as_json:
        print_json({"schema": "schedmate.served/1", "scheduler": settings.scheduler})


def _settings(*, no_llm: bool) -> Settings:
    from dataclasses import replace

    from schedmate import config

    settings = config.load()
    return replace(settings, llm=replace(settings.llm, enabled=False)) if no_llm else settings


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

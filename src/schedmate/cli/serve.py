"""`schedmate serve`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from schedmate.cli._common import (
    dry_run_option,
    duration,
    echo,
    json_option,
    no_llm_option,
    print_json,
    say,
    verb,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.config import Settings
    from schedmate.model import Action


@verb(
    examples="""
schedmate serve
SCHEDMATE_MODE=act schedmate serve
SCHEDMATE_MODE=act schedmate serve --once --dry-run
SCHEDMATE_SCHEDULER=slurm schedmate serve --once --json
"""
)
@click.option("--once", is_flag=True, help="Look once, do what follows, and end.")
@dry_run_option
@no_llm_option
@json_option
def command(once: bool, dry_run: bool, no_llm: bool, as_json: bool) -> None:
    """The daemon: advises, tracks and diagnoses the jobs of the scheduler.

    In mode `observe` (the default) it only writes down what it would do; `assist` also sets
    priorities and limits, `act` also requeues jobs; both within the rights of the
    account that runs it (see: schedmate doctor). With --dry-run every decision is printed and
    nothing is changed, in any mode, also beside a running daemon. The REST API, the web page
    and the metrics are not there yet.
    """
    import logging
    from dataclasses import replace

    from schedmate import config
    from schedmate.service.daemon.serving import look_once, serve, stopped_by_signals
    from schedmate.service.views.sentences import advice_lines

    settings = config.load()
    if no_llm:
        settings = replace(settings, llm=replace(settings.llm, enabled=False))
    _warn(settings)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    on_decision = _printer(settings, as_json=as_json) if dry_run else None
    if once:
        look_once(settings, on_decision)
    else:
        with stopped_by_signals() as stop:
            echo(f"serving {settings.scheduler} in mode {settings.mode}", err=True)
            describe = lambda advice: advice_lines(advice, duration)  # noqa: E731
            serve(settings, stop, on_decision, describe)
    if as_json and not dry_run:
        print_json({"schema": "schedmate.served/1", "scheduler": settings.scheduler})


def _printer(settings: Settings, *, as_json: bool) -> Callable[[Action, bool], None]:
    """One line a decision."""

    def show(action: Action, would: bool) -> None:
        if as_json:
            from schedmate.model.wire import to_json

            print_json({"schema": "schedmate.decision/1", "would": would, **to_json(action)})
            return
        about = f"node {action.node}" if action.node else f"job {action.job_id}"
        value = "" if action.value is None or action.node else f" {action.value:g}"
        nodes = f", not on {','.join(action.exclude_nodes)}" if action.exclude_nodes else ""
        mode = "would be done" if would else f"only recorded in mode {settings.mode}"
        echo(f"{about}: {action.kind}{value}{nodes} ({action.why}); {mode}")

    return show


def _warn(settings: Settings) -> None:
    """What the account and the mode mean together; a scheduler that is down is reported later."""
    from contextlib import suppress

    from schedmate.model import SchedMateError
    from schedmate.service.account import account_at
    from schedmate.service.wiring import open_scheduler

    if settings.mode != "observe":
        with suppress(SchedMateError):
            account = account_at(open_scheduler(settings))
            for warning in account.warnings(settings.mode):
                say(warning)
            if settings.mode == "act" and settings.drain.allowed and not account.drains:
                say(f"drain.allowed: {account.user} may not change nodes, so none is drained")

"""`schedmate serve`"""

from __future__ import annotations

import logging
from contextlib import ExitStack, contextmanager
from pathlib import Path
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
    from collections.abc import Callable, Iterator

    from schedmate.config import Settings
    from schedmate.model import Action, Advice
    from schedmate.service.daemon.log_output import LogFormat
    from schedmate.site_settings import WebSettings
    from schedmate.web.site import Site

    Tell = Callable[[str], None]

_EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - recognised, not bound
_log = logging.getLogger("schedmate.serve")


@verb(
    examples="""
schedmate serve
schedmate serve --port 8080
schedmate serve --log-file /var/log/schedmate/serve.log
schedmate serve --port 8080 --log-format json
SCHEDMATE_MODE=act schedmate serve
SCHEDMATE_MODE=act schedmate serve --once --dry-run
SCHEDMATE_SCHEDULER=slurm schedmate serve --once --json
sudo schedmate serve --queue
"""
)
@click.option("--once", is_flag=True, help="Look once, do what follows, and end.")
@click.option(
    "--queue", "only_queue", is_flag=True, help="Serve the shared queue, and nothing else."
)
@dry_run_option
@click.option("--port", type=click.IntRange(1, 65535), help="Serve pages and API on this port.")
@click.option(
    "--log-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Log to this file, begun anew at 10 MB, instead of to stderr.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="json: one object a line; default: the setting log_format.",
)
@no_llm_option
@json_option
def command(
    *,
    once: bool,
    only_queue: bool,
    dry_run: bool,
    port: int | None,
    log_file: Path | None,
    log_format: LogFormat | None,
    no_llm: bool,
    as_json: bool,
) -> None:
    """The daemon: advises, tracks and diagnoses the jobs of the scheduler.

    In mode `observe` (the default) it only writes down what it would do; `assist` also sets
    priorities and limits, `act` also requeues jobs; both within the rights of the
    account that runs it (see: schedmate doctor). With --dry-run every decision is printed and
    nothing is changed, in any mode, also beside a running daemon. SIGHUP makes it read its
    settings again and reopen its log; a file that cannot be used leaves the settings as they
    were. With a port, its page and its API (/api/v1) are on 127.0.0.1, or where the setting
    web.host has them; with the setting web.socket also on a unix socket.

    With --queue, root serves one queue for all accounts of this machine: each account's jobs run
    as that account. With the setting local.shared, `serve` as root does so beside the daemon.
    """
    if only_queue:
        _serve_queue(log_file, log_format, no_llm=no_llm)
        return
    from schedmate.service.daemon.alone import refuse_second
    from schedmate.service.daemon.log_output import begin_logging
    from schedmate.service.daemon.process import bound_arenas, take_short_turns, uncollected
    from schedmate.service.daemon.signals import handled_signals
    from schedmate.service.start_warnings import start_warnings

    bound_arenas()
    take_short_turns()
    settings = _settings(no_llm=no_llm)
    if not dry_run:
        refuse_second(settings)
    form = log_format or settings.log_format
    begin_logging(log_file, form)
    tell = _log.info if form == "json" else _on_stderr
    for warning in start_warnings(settings):
        (_log.warning if form == "json" else say)(warning)
    on_decision = _printer(as_json=as_json) if dry_run else None
    if once:
        from schedmate.service.daemon.serving import look_once

        look_once(settings, on_decision)
    else:
        with handled_signals() as signals, ExitStack() as stack:
            if not dry_run:
                from schedmate.service.daemon.shared_queue import queue_beside

                stack.enter_context(queue_beside(settings))
            with uncollected():
                site = stack.enter_context(_beside(settings, port, tell))
                tell(f"serving {settings.scheduler} in mode {settings.mode}")
                # the pages answer while all that decides is imported
                from schedmate.service.daemon.serving import serve
            serve(
                settings,
                signals,
                lambda: _settings(no_llm=no_llm),
                on_decision=on_decision,
                describe=_described,
                looked=(lambda _: None) if site is None else site.looked,
                stands_by=(lambda: None) if site is None else site.stands_by,
            )
    if as_json and not dry_run:
        print_json({"schema": "schedmate.served/1", "scheduler": settings.scheduler})


def _serve_queue(log_file: Path | None, log_format: LogFormat | None, *, no_llm: bool) -> None:
    """With as few imports as possible: it stays small for months."""
    from schedmate.service.daemon.log_output import begin_logging
    from schedmate.service.daemon.shared_queue import serve_shared_queue
    from schedmate.service.daemon.signals import handled_signals

    settings = _settings(no_llm=no_llm)
    begin_logging(log_file, log_format or settings.log_format)
    with handled_signals() as signals:
        serve_shared_queue(settings, signals, lambda: _settings(no_llm=no_llm))


@contextmanager
def _beside(settings: Settings, port: int | None, tell: Tell) -> Iterator[Site | None]:
    """The pages, where there are any, and the notifications."""
    from schedmate.service.notifications.notifier import notifying

    with _pages(settings, port, tell) as site:
        counts = None if site is None else site.notifications
        with notifying(settings, duration, counts):
            yield site


@contextmanager
def _pages(settings: Settings, port: int | None, tell: Tell) -> Iterator[Site | None]:
    """Where there is a port or a socket for them."""
    web = settings.web
    if port is None and web.socket is None:
        yield None
        return
    from schedmate.web.server import serving

    with serving(settings, host=web.host, port=port) as site:
        if port is not None:
            tell(f"the page is at {page_url(web, port)}")
        if web.socket is not None:
            tell(f"users of this machine ask at unix:{web.socket}")
        yield site


def page_url(web: WebSettings, port: int) -> str:
    """By a name that browsers can open: an address that stands for all of them is none."""
    scheme = "http" if web.certificate is None else "https"
    everywhere = web.host in _EVERYWHERE
    host = web.names[0] if everywhere and web.names else "127.0.0.1" if everywhere else web.host
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/"


def _on_stderr(text: str) -> None:
    echo(text, err=True)


def _settings(*, no_llm: bool) -> Settings:
    from dataclasses import replace

    from schedmate import config

    settings = config.load()
    return replace(settings, llm=replace(settings.llm, enabled=False)) if no_llm else settings


def _described(advice: Advice) -> list[str]:
    """For sbatch's hook."""
    from schedmate.service.views.sentences import advice_lines

    return list(advice_lines(advice, duration))


def _printer(*, as_json: bool) -> Callable[[Action, str | None], None]:
    """One line a decision."""

    def show(action: Action, obstacle: str | None) -> None:
        if as_json:
            from schedmate.model.wire import to_json

            would = obstacle is None
            print_json({"schema": "schedmate.decision/1", "would": would, **to_json(action)})
            return
        about = f"node {action.node}" if action.node else f"job {action.job_id}"
        value = "" if action.value is None or action.node else f" {action.value:g}"
        nodes = f", not on {','.join(action.exclude_nodes)}" if action.exclude_nodes else ""
        outcome = "would be done" if obstacle is None else f"only recorded{obstacle}"
        echo(f"{about}: {action.kind}{value}{nodes} ({action.why}); {outcome}")

    return show

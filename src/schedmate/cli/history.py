"""`schedmate history`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from schedmate.cli._common import console, duration, echo, json_option, print_json, verb

if TYPE_CHECKING:
    from schedmate.model import PastRun


@click.group(
    epilog="\b\nExamples:\n  schedmate history import local\n  schedmate history import trace.csv"
    "\n  schedmate history list -u alice --json\n  schedmate history show 12"
)
def command() -> None:
    """Past jobs: what predictions are made from. Each verb has --json."""


@verb(
    name="import",
    examples="""
schedmate history import local
schedmate history import slurm
schedmate history import trace.csv.gz --json
""",
)
@click.argument("source")
@json_option
def import_verb(source: str, as_json: bool) -> None:
    """Remember past jobs from SOURCE.

    SOURCE is a scheduler (local, slurm: its jobs that have ended, as far as it still knows
    them) or a table of jobs (CSV or Parquet with job_id, user, submit_time, duration, gpus).
    Importing the same again changes nothing.
    """
    from schedmate import config
    from schedmate.service.usecases.history_import import (
        import_scheduler,
        import_table,
        learn_from_history,
    )

    settings = config.load()
    if source in ("local", "slurm"):
        imported = import_scheduler(settings, source)
    else:
        imported = import_table(settings, _runs_of_table(source), source)
    learn_from_history(settings)
    if as_json:
        print_json({"schema": "schedmate.imported/1", "source": source, "runs": imported})
    else:
        echo(f"{imported} runs are remembered from {source}", err=True)


def _runs_of_table(source: str) -> list[PastRun]:
    from pathlib import Path

    from schedmate.simulator import read_trace
    from schedmate.simulator.traces.finished import to_past_run

    trace = read_trace(Path(source))
    if trace.bad_rows:
        echo(
            f"{len(trace.bad_rows)} rows are left out, the first one {trace.bad_rows[0]}", err=True
        )
    return [to_past_run(job) for job in trace.jobs]


@verb(
    name="list",
    examples="""
schedmate history list
schedmate history list -u alice --limit 5 --json
""",
)
@click.option("-u", "--user", help="Only runs of this user.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1))
@json_option
def list_verb(user: str | None, limit: int, as_json: bool) -> None:
    """The newest runs first."""
    from schedmate import config
    from schedmate.model.wire import to_json
    from schedmate.service.wiring import open_store

    runs = open_store(config.load()).recent_runs(user=user, limit=limit)
    if as_json:
        print_json({"schema": "schedmate.history/1", "runs": [to_json(run) for run in runs]})
    elif not runs:
        echo("nothing is remembered yet", err=True)
    else:
        console().print(_table(list(runs)))


def _table(runs: list[PastRun]) -> object:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("JOBID", "USER", "NAME", "STATE", "RAN", "GPUS"):
        table.add_column(title, no_wrap=True)
    for run in runs:
        job = run.job
        shown = (job.id, job.user, job.name, job.state.value)
        table.add_row(*map(escape, shown), duration(job.run_time_s), str(job.request.gpus))
    return table


@verb(
    name="show",
    examples="""
schedmate history show 12
schedmate history show 12 --json
""",
)
@click.argument("job_id", metavar="ID")
@json_option
def show_verb(job_id: str, as_json: bool) -> None:
    """One remembered run: what it was, how long it took, how it ended."""
    from schedmate import config
    from schedmate.model import NotFound
    from schedmate.model.wire import to_json
    from schedmate.service.wiring import open_store

    run = open_store(config.load()).run(job_id)
    if run is None:
        raise NotFound(f"the history knows no job {job_id}")
    if as_json:
        print_json({"schema": "schedmate.run/1", **to_json(run)})
        return
    job = run.job
    echo(f"job {job.id}  {job.name}  {job.state}  ran {duration(job.run_time_s)}")
    for name, found in to_json(run.workload).items():
        if found is not None:
            echo(f"  {name:<22} {found['value']}")


for _verb in (import_verb, list_verb, show_verb):
    command.add_command(_verb)

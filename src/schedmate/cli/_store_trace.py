"""Traces of `simulate` that know the code of their jobs: a store, or an export that is read into
one of its own.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedmate.model import PastRun

STORE = "store:"


def trace_file(source: str) -> str:
    """The file of a store that is named so; any other source as it is."""
    if not source.startswith(STORE):
        return source
    from schedmate import config
    from schedmate.model import BadInput, NotFound

    named = source.removeprefix(STORE)
    if named:
        return named
    settings = config.load()
    if settings.store_url:
        raise BadInput(
            "the store in use is in PostgreSQL: copy it to a file with schedmate store backup "
            "FILE, and name that: store:FILE"
        )
    if not settings.database.is_file():
        raise NotFound(
            f"there is no store {settings.database}; schedmate history import slurm (or local, or "
            "a table of jobs) makes one"
        )
    return str(settings.database)


def with_code(source: str, scripts: str | None, place: Path) -> str:
    """A store below `place` with the jobs of an export and what is read of their code now; it is
    called as the export."""
    from schedmate import config
    from schedmate.cli._common import echo
    from schedmate.cli._exported_scripts import ExportedScripts
    from schedmate.cli.history import unread_words
    from schedmate.design.words import plural
    from schedmate.service.usecases.backtest import scratch_settings
    from schedmate.service.usecases.history_import import import_table

    found = ExportedScripts.read(Path(scripts)) if scripts else ExportedScripts()
    runs = _started_runs(source)
    settings = scratch_settings(config.load(), Path(mkdtemp(dir=place)))
    imported = import_table(settings, runs, source, started_by=found.target)
    read = f"code read for {imported.code_read} of {plural(imported.runs, 'job')}"
    echo("; ".join([f"{source}: {read}", *unread_words(imported)]), err=True)
    return str(settings.database.rename(settings.state_dir / Path(source).name))


def _started_runs(source: str) -> list[PastRun]:
    """Of an export that states when each job started, so that waits are those that were."""
    from schedmate.cli.history import read_table
    from schedmate.model import BadInput
    from schedmate.simulator.sweeps import SYNTHETIC
    from schedmate.simulator.traces.finished import to_past_run

    if source == SYNTHETIC or source.startswith(STORE):
        raise BadInput(
            "--read-code and --scripts are for an export of accounting; a store knows what was "
            "read of its jobs, a synthetic trace is given code"
        )
    trace = read_table(source)
    if any(job.start_time is None for job in trace.jobs):
        raise BadInput(
            f"{source} does not state when its jobs started, so their waits are unknown: export "
            "Start too (start_time in a plain table), or leave --read-code and --scripts out"
        )
    return [to_past_run(job) for job in trace.jobs]

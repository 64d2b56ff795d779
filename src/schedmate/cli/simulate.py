"""schedmate simulate: what a policy would do to a trace of jobs."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from schedmate.cli._common import echo, json_option, verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedmate.simulator import Comparison, Trace

    OnProgress = Callable[[str, int, int], None]

_SYNTHETIC = "synthetic"
_SYNTHETIC_GPUS = 64
_SHOWN_BAD_ROWS = 3


def _not_there_yet(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001 - click's signature
    value: str | None,
) -> None:
    if value is not None:
        _refuse_report()


def _refuse_report() -> NoReturn:
    from schedmate.model import NotThereYet

    raise NotThereYet("--report is not there yet; --json has all the figures")


@verb(
    examples="""
schedmate simulate synthetic --policy fifo,sjf
schedmate simulate synthetic --jobs 20000 --seed 7 --gpus 128 --backfill
schedmate simulate trace.csv.gz --policy fifo,sjf --gpus 2490 --json
"""
)
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True)
@click.option("--policy", "policies", default="fifo,sjf", show_default=True, metavar="P[,P...]")
@click.option(
    "--gpus",
    type=click.IntRange(1, 10_000_000),
    help="GPUs of the cluster. [default: 64 for a synthetic trace, else what makes a load of 0.9]",
)
@click.option("--backfill", is_flag=True, help="Let jobs that fit overtake one that does not.")
@click.option("--seed", default=0, show_default=True, help="Seed of a synthetic trace.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 10_000_000),
    default=2000,
    show_default=True,
    help="Jobs of a synthetic trace.",
)
@click.option(
    "--load",
    type=click.FloatRange(0.01, 10),
    default=0.9,
    show_default=True,
    help="Load of a synthetic trace: work asked for over work the GPUs can do.",
)
@click.option(
    "--report", metavar="HTML", callback=_not_there_yet, expose_value=False, help="Not there yet."
)
@json_option
def command(
    *,
    traces: tuple[str, ...],
    policies: str,
    gpus: int | None,
    backfill: bool,
    seed: int,
    jobs: int,
    load: float,
    as_json: bool,
) -> None:
    """Compare policies on each TRACE: a table in CSV, gzipped or not, or in Parquet.

    It needs the columns job_id, user, submit_time, duration and gpus. The word `synthetic`
    stands for a trace that is drawn on the spot.
    """
    from schedmate.cli._common import print_json
    from schedmate.simulator import compare

    names = _names(policies)
    for source in traces:
        drawn = source == _SYNTHETIC
        size = gpus or (_SYNTHETIC_GPUS if drawn else None)
        trace = _synthetic(jobs, size, load, seed) if drawn and size else _read(source)
        with _progress_bar(names) as on_progress:
            compared = compare(
                trace, policies=names, gpus=size, backfill=backfill, on_progress=on_progress
            )
        if as_json:
            print_json(compared)
        else:
            _show(compared)


def _names(policies: str) -> list[str]:
    """The policies asked for, each once, in the order given."""
    from schedmate.model import BadInput
    from schedmate.policies import ordering

    names = list(dict.fromkeys(name.strip() for name in policies.split(",") if name.strip()))
    if not names:
        raise BadInput("--policy needs a name, for example --policy fifo,sjf")
    for name in names:
        ordering(name)
    return names


def _synthetic(jobs: int, gpus: int, load: float, seed: int) -> Trace:
    from schedmate.simulator import synthetic

    return synthetic(jobs, gpus=gpus, load=load, seed=seed)


def _read(source: str) -> Trace:
    """Read a file and say which rows of it were of no use."""
    from schedmate.simulator import read_trace

    trace = read_trace(Path(source))
    bad = trace.bad_rows
    if bad:
        rows = len(bad) + len(trace.jobs)
        shown = "; ".join(str(row) for row in bad[:_SHOWN_BAD_ROWS])
        more = "; …" if len(bad) > _SHOWN_BAD_ROWS else ""
        echo(f"{source}: left out {len(bad)} of {rows} rows: {shown}{more}", err=True)
    return trace


@contextmanager
def _progress_bar(names: Sequence[str]) -> Iterator[OnProgress | None]:
    from schedmate.cli._common import console

    talk = console(stderr=True)
    if not talk.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=talk, transient=True) as bar:
        tasks = {name: bar.add_task(name, total=None) for name in names}
        yield lambda name, done, total: bar.update(tasks[name], completed=done, total=total)


def _show(compared: Comparison) -> None:
    from rich.table import Table

    from schedmate.cli._common import console, duration

    out = console()
    table = Table("policy", box=None, pad_edge=False)
    first = next(iter(compared.policies))
    for heading in ("avg JCT", f"vs {first}", "p50 JCT", "p99 JCT", "avg wait", "makespan", "GPUs"):
        table.add_column(heading, justify="right", no_wrap=True)
    base = compared.policies[first].avg_jct_s
    for name, summary in compared.policies.items():
        table.add_row(
            name,
            duration(summary.avg_jct_s),
            f"{base / summary.avg_jct_s:.2f}x" if summary.avg_jct_s else "-",
            duration(summary.p50_jct_s),
            duration(summary.p99_jct_s),
            duration(summary.avg_queue_s),
            duration(summary.makespan_s),
            f"{summary.gpu_utilization:.0%}",
        )
    out.print(f"{compared.trace}: {compared.jobs} jobs on {compared.gpus} GPUs", markup=False)
    out.print(table)
    for assumption in compared.assumptions:
        out.print(f"- {assumption}", markup=False)

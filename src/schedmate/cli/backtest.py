"""`schedmate backtest`"""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedmate.cli._backtest_words import PREDICTORS, headline
from schedmate.cli._common import (
    console,
    duration,
    echo,
    echo_lines,
    json_option,
    print_json,
    say,
    verb,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedmate.service.usecases.backtest import Backtest, Group, Grouping
    from schedmate.service.usecases.backtest_scores import Scores

_SHOWN = 15
_TRIED, _LONG_S = 200, 60.0


@verb(
    examples="""
schedmate backtest
schedmate backtest --since 90d --by user
schedmate backtest --html backtest.html
schedmate backtest --json
"""
)
@click.option("--since", metavar="DATE", help="Judge only runs submitted then or later.")
@click.option(
    "--by",
    type=click.Choice(["user", "partition"]),
    help="Only this breakdown; both by default, and what predictions rest on.",
)
@click.option("--html", "page", type=click.Path(path_type=Path), help="Write a page with plots.")
@json_option
def command(since: str | None, by: Grouping | None, *, page: Path | None, as_json: bool) -> None:
    """What predictions would have been worth on this site's own past.

    Each run of the store is predicted from the runs that had ended before it was submitted, and
    compared with what really happened, beside simple controls that see the same past. A DATE is
    2024-12-31, 2024-12-31T12:00 or a number of days ago, 90d; earlier runs are learnt from. An
    operator sees all runs, any other user their own.
    """
    from schedmate import config
    from schedmate.cli.history import time_of
    from schedmate.model import BadInput
    from schedmate.service.usecases.backtest import GROUPINGS, backtest

    if page is not None and not page.parent.is_dir():
        raise BadInput(f"there is no directory {page.parent} for the page; make it first")
    with _bar() as on_progress:
        found = backtest(
            config.load(),
            since=time_of("--since", since),
            by=GROUPINGS if by is None else (by,),
            on_progress=on_progress,
        )
    if page is not None:
        from schedmate.cli._backtest_page import write_page

        write_page(page, found)
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(found: Backtest) -> None:
    echo_lines(headline(found))
    echo("")
    _table("predictor", [(PREDICTORS[name], each) for name, each in found.predictors.items()])
    for by, groups in found.groups.items():
        echo("")
        _groups_table(by, groups)
    echo("")
    echo(
        "within 2x: predicted between half and twice of what it took; covered: took between p10 "
        "and p90 (80% is right); pinball: less is better; explained: share of the variance of log "
        "run times."
    )


def _table(heading: str, rows: Sequence[tuple[str, Scores]]) -> None:
    from schedmate.cli._table import Column, fitted_table

    spared = {"KNOWN": 3, "PINBALL": 2, "EXPLAINED": 1}
    titles = ("RUNS", "KNOWN", "MEDIAN ERROR", "WITHIN 2X", "COVERED", "PINBALL", "EXPLAINED")
    columns = [
        Column(heading.upper()),
        *(Column(title, number=True, spared=spared.get(title, 0)) for title in titles),
    ]
    cells = []
    for name, each in rows:
        share = "-" if each.explained is None else f"{each.explained:.2f}"
        cells.append((name, str(each.runs), f"{each.predicted:.0%}", *_figures(each), share))
    screen = console()
    screen.print(fitted_table(columns, cells, screen.width))


def _figures(each: Scores) -> tuple[str, str, str, str]:
    return (
        f"{each.median_error:.2f}x",
        f"{each.within_2x:.0%}",
        f"{each.covered:.0%}",
        f"{each.pinball:.3f}",
    )


def _groups_table(by: str, groups: Sequence[Group]) -> None:
    from schedmate.cli._console import cell
    from schedmate.cli._table import Column, fitted_table

    columns = (
        *(Column(by.upper(), cut=12), Column("RUNS", number=True)),
        *(Column("MEDIAN ERROR", number=True), Column("WITHIN 2X", number=True)),
        *(Column("COVERED", number=True, spared=1), Column("PINBALL", number=True, spared=2)),
        *(Column("BEST CONTROL"), Column("WITHIN 2X", number=True)),
    )
    rows = [
        (
            cell(each.name or "-"),
            str(each.schedmate.runs),
            *_figures(each.schedmate),
            PREDICTORS[each.best_control],
            f"{each.control.within_2x:.0%}",
        )
        for each in groups[:_SHOWN]
    ]
    screen = console()
    screen.print(fitted_table(columns, rows, screen.width))
    if len(groups) > _SHOWN:
        echo(f"and {len(groups) - _SHOWN} more; --json and --html show all of them")


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A bar with the time that is left; without a terminal, one sentence where it takes long."""
    from rich.progress import Progress, TimeRemainingColumn

    talk = console(stderr=True)
    columns = (*Progress.get_default_columns()[:3], TimeRemainingColumn())
    began = time.monotonic()
    with Progress(*columns, console=talk, transient=True, disable=not talk.is_terminal) as bar:
        task = bar.add_task("replaying runs", total=None)

        def on_progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)
            left = (time.monotonic() - began) / done * (total - done)
            if done == _TRIED and left > _LONG_S:
                say(f"{total} runs take about {duration(left)}; --since judges fewer, not faster")

        yield on_progress

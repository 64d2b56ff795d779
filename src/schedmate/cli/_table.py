"""Tables that fit the screen: what a row is called stays readable, what says less gives way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = 2
_LEAST_FOLDED = 20


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    number: bool = False
    cut: int = 0
    """Shortened to so many characters where there is no room, with a `…`; 0: never."""
    folds: bool = False
    """Takes the room that is left, on several lines where it needs them."""
    spared: int = 0
    """Left out where there is still no room, the highest first; 0: never."""


def fitted_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Table:
    """`rows` are cells already, markup and all."""
    needed = [
        max(len(column.title), *(Text.from_markup(row[at]).cell_len for row in rows), 0)
        for at, column in enumerate(columns)
    ]
    shown = _shown(columns, needed, width)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0))
    for at, room in shown.items():
        column = columns[at]
        table.add_column(
            column.title,
            width=room,
            justify="right" if column.number else "left",
            no_wrap=not column.folds,
            overflow="fold" if column.folds else "ellipsis",
        )
    for row in rows:
        table.add_row(*(row[at] for at in shown))
    return table


def _shown(columns: Sequence[Column], needed: Sequence[int], width: int) -> dict[int, int]:
    """The columns that there is room for, by their places, with their widths."""
    spared = sorted(
        (at for at, column in enumerate(columns) if column.spared),
        key=lambda at: -columns[at].spared,
    )
    for count in range(len(spared) + 1):
        places = [at for at in range(len(columns)) if at not in spared[:count]]
        widths = _widths({at: columns[at] for at in places}, needed, width)
        if _taken(widths) <= width:
            break
    return widths


def _widths(columns: dict[int, Column], needed: Sequence[int], width: int) -> dict[int, int]:
    """As wide as they need to be; else the longest that may be cut or folded are made shorter."""
    widths = {at: needed[at] for at in columns}
    least = {at: _least(column) for at, column in columns.items() if _least(column)}
    while _taken(widths) > width:
        longer = [at for at in least if widths[at] > max(least[at], len(columns[at].title))]
        if not longer:
            break
        widths[max(longer, key=lambda at: widths[at])] -= 1
    return widths


def _least(column: Column) -> int:
    return _LEAST_FOLDED if column.folds else column.cut


def _taken(widths: dict[int, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)

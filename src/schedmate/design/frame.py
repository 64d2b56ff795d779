"""The frame of a plot: axes, grid, ticks and what they are called.

A plot is two pictures in one place. The paths are in a box of `SIZE` by `SIZE` that is stretched to
the width of the page; letters, dots and bars are placed in percent of it, so that they keep
their shape. Nothing needs a style of its own: a page may forbid them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from schedmate.design.scale import Scale
from schedmate.design.words import text

SIZE = 1000
_LETTER = 6.6
"""About the width of a letter at the size of a tick's label."""
_MARGIN = 32
_WIDEST = 8


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a plot's values go: x to the right, y upwards; `height` is in pixels."""

    x: Scale
    y: Scale
    x_title: str = ""
    y_title: str = ""
    height: int = 240
    left: int = 56

    def across(self, value: float) -> float:
        return round(SIZE * self.x(value), 1)

    def up(self, value: float) -> float:
        return round(SIZE * (1 - self.y(value)), 1)

    def drawn(
        self, paths: str = "", shapes: str = "", *, title: str, data: str = "", rows: bool = False
    ) -> str:
        """The whole picture; `paths` are in the stretched box, `shapes` in percent.

        `title` is what it shows in words, `data` what a script needs to draw it again.
        """
        margin = min(_WIDEST, max(1, math.ceil(self.left / _MARGIN)))
        kind = f"plot left-{margin}{' rows' if rows else ''}{' titled' if self.y_title else ''}"
        return (
            f'<div class="{kind}" role="img" aria-label="{text(title)}"{data}>'
            f'<svg class="field" viewBox="0 0 {SIZE} {SIZE}" preserveAspectRatio="none" '
            f'aria-hidden="true">{self._grid()}{paths}</svg>'
            f'<svg class="marks" height="{self.height}" aria-hidden="true">'
            f"{self._ticks()}{shapes}{self._titles()}</svg></div>"
        )

    def _grid(self) -> str:
        upright = "".join(f"M{self.across(value)} {SIZE}V0" for value in self.x.ticks)
        level = "".join(f"M0 {self.up(value)}H{SIZE}" for value in self.y.ticks)
        return f'<path class="grid" d="{upright}{level}"/>'

    def _ticks(self) -> str:
        parts = []
        for number, value in enumerate(self.x.ticks):
            place = percent(self.across(value))
            at = f' data-at="{value:.0f}"' if self.x.kind == "clock" else ""
            last = " last" if number == len(self.x.ticks) - 1 else ""
            minor = " minor" if number % 2 else ""
            parts.append(
                f'<text class="tick x{minor}{last}" data-value="{value:.12g}"{at} x="{place}" '
                f'y="100%" dy="18">{text(self.x.label(value))}</text>'
            )
        parts.extend(
            f'<text class="tick y" data-value="{value:.12g}" x="0" dx="-7" '
            f'y="{percent(self.up(value))}" dy="4">{text(self.y.label(value))}</text>'
            for value in self.y.ticks
        )
        return "".join(parts)

    def _titles(self) -> str:
        along = f'<text class="title x" x="50%" y="100%" dy="38">{text(self.x_title)}</text>'
        upright = f'<text class="title y" x="0" y="0" dy="-10">{text(self.y_title)}</text>'
        return (along if self.x_title else "") + (upright if self.y_title else "")


def percent(place: float) -> str:
    """A place of the stretched box as one of the other picture."""
    return f"{100 * place / SIZE:.2f}%"


def room_for(labels: list[str]) -> int:
    """How far from the left a plot must begin so that its labels can be read."""
    return round(24 + _LETTER * max(map(len, labels), default=0))

"""The frame of a plot: axes, grid, ticks and what they are called."""

from __future__ import annotations

from dataclasses import dataclass

from schedmate.simulator.report.scale import Scale
from schedmate.simulator.report.words import text

WIDTH = 720
_RIGHT, _TOP, _BOTTOM = 16, 12, 46
_TICK = 5
_LETTER = 6.6
"""About the width of a letter at the size of a tick's label."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a plot's values go: x to the right, y upwards."""

    x: Scale
    y: Scale
    x_title: str
    y_title: str
    height: int = 300
    left: int = 74

    @property
    def top(self) -> int:
        return _TOP

    @property
    def bottom(self) -> int:
        return self.height - _BOTTOM

    @property
    def right(self) -> int:
        return WIDTH - _RIGHT

    def across(self, value: float) -> float:
        return round(self.left + self.x(value) * (self.right - self.left), 1)

    def up(self, value: float) -> float:
        return round(self.bottom - self.y(value) * (self.bottom - self.top), 1)

    def drawn(self, marks: str, *, title: str, extra: str = "") -> str:
        """The whole picture, with `marks` above the grid."""
        return (
            f'<svg class="plot" viewBox="0 0 {WIDTH} {self.height}" role="img"{extra}>'
            f"<title>{text(title)}</title>{self._grid()}{marks}{self._titles()}</svg>"
        )

    def _grid(self) -> str:
        parts = []
        for value in self.x.ticks:
            place = self.across(value)
            parts.append(f'<path class="grid" d="M{place} {self.bottom}V{self.top}"/>')
            parts.append(
                f'<text class="tick x" data-value="{value:.12g}" x="{place}" '
                f'y="{self.bottom + 16}">{text(self.x.label(value))}</text>'
            )
        for value in self.y.ticks:
            place = self.up(value)
            parts.append(f'<path class="grid" d="M{self.left} {place}H{self.right}"/>')
            parts.append(
                f'<text class="tick y" data-value="{value:.12g}" x="{self.left - _TICK - 2}" '
                f'y="{place + 4}">{text(self.y.label(value))}</text>'
            )
        return "".join(parts)

    def _titles(self) -> str:
        middle = (self.bottom + self.top) / 2
        upright = (
            f'<text class="title" x="14" y="{middle}" transform="rotate(-90 14 {middle})">'
            f"{text(self.y_title)}</text>"
        )
        along = (
            f'<text class="title" x="{(self.left + WIDTH) / 2}" y="{self.height - 8}">'
            f"{text(self.x_title)}</text>"
        )
        return (upright if self.y_title else "") + along


def room_for(labels: list[str]) -> int:
    """How far from the left a plot must begin so that its labels can be read."""
    return min(260, round(24 + _LETTER * max(map(len, labels), default=0)))

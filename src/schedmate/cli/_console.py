"""A console on which only our own styles are styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.segment import Segment

from schedmate.model.legible import legible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType


def cell(text: str) -> str:
    """Of a table: text that is no markup, on one line and as wide as it is counted."""
    return escape(legible(text).replace("\t", "\\t"))


class LegibleConsole(Console):
    def on_broken_pipe(self) -> None:
        """Rich would end the process here."""
        raise  # noqa: PLE0704 - it is called where the error is handled

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Every text passes here, in a table or alone; line breaks are segments of their own."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            if control or text == "\n" or text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(legible, text.split("\n"))), style)

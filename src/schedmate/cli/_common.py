"""What the verbs share: output, options, and help with examples."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from schedmate.model.legible import escaped_json, legible, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

F = TypeVar("F", bound="Callable[..., Any]")

_PIPE = 250

json_option = click.option("--json", "as_json", is_flag=True, help="Print data as JSON on stdout.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Print what would be done, only.")
note_option = click.option(
    "--note",
    default="",
    callback=lambda _, __, text: one_line(text),
    help="What the next person should know.",
)
no_llm_option = click.option("--no-llm", is_flag=True, help="Never ask a language model.")


def verb(*, examples: str, **settings: Any) -> Callable[[F], click.Command]:
    """A click command whose help ends with examples, one a line."""
    shown = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines())
    return click.command(epilog=shown, **settings)


def print_json(value: Any) -> None:
    """Print one of our values, or plain data, on one line."""
    import dataclasses

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        from schedmate.model.wire import to_json

        value = to_json(value)
    echo_json(json.dumps(value, ensure_ascii=False) + "\n")


def echo_json(text: str) -> None:
    click.echo(escaped_json(text), file=sys.stdout, nl=False)


def echo(text: str, *, err: bool = False) -> None:
    """Print one line: nothing of a log, a note or a name can move the cursor or begin another.

    Talk that cannot be written changes neither what a verb does nor how it ends.
    """
    with suppress(OSError) if err else nullcontext():
        # by its name, as click would write UTF-8 to a stream of another encoding
        click.echo(legible(text), file=sys.stderr if err else sys.stdout)


def echo_lines(text: str, *, err: bool = False) -> None:
    """Print a text whose line breaks are ours."""
    for line in text.split("\n"):
        echo(line, err=err)


def say(text: str) -> None:
    """One sentence for the person at the terminal, and what a program answered in its lines."""
    echo_lines(f"schedmate: {text}", err=True)


def console(*, stderr: bool = False) -> Console:
    """stdout is data, stderr is talk. A pipe has no width: nothing is cut for it."""
    from schedmate.cli._console import LegibleConsole

    made = LegibleConsole(stderr=stderr, highlight=False)
    if made.is_terminal:
        return made
    return LegibleConsole(stderr=stderr, highlight=False, width=width())


def width() -> int:
    """Columns of the terminal, or what COLUMNS says; for a pipe so many that nothing is cut."""
    return shutil.get_terminal_size((_PIPE, 0)).columns


_SHOWN = 0.05
"""Seconds that are not written as none."""


def duration(seconds: float | None) -> str:
    """Slurm's way to write a time: `D-HH:MM:SS`; short ones as seconds."""
    if seconds is None:
        return "-"
    if 0 < seconds < _SHOWN:
        return "<0.1s"
    if seconds < 100:  # noqa: PLR2004 - below that a bare number of seconds reads better
        return f"{seconds:.1f}s" if seconds < 10 else f"{seconds:.0f}s"  # noqa: PLR2004
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    clock = f"{hour:02}:{minute:02}:{second:02}"
    return f"{days}-{clock}" if days else clock

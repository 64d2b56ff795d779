"""What the commands share: their help, tables, progress bars and the language model in use."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from typing import TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

from schedmate import config
from schedmate.llm import open_asker
from schedmate.model import Asker
from schedmate.testing.llm import MemoryLedger

T = TypeVar("T")
_WIDTH_OF_A_FILE = 150


def command_line(doc: str | None, spec: ModuleSpec | None) -> argparse.ArgumentParser:
    """A parser whose help is the module's docstring, which has the examples."""
    return argparse.ArgumentParser(
        prog=f"python -m {spec.name}" if spec else None,
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False)


def table(title: str, columns: Sequence[str]) -> Table:
    """The first column names the row, the others are numbers."""
    made = Table(title=title)
    for place, column in enumerate(columns):
        made.add_column(column, justify="right" if place else "left")
    return made


def progress(items: Sequence[T], what: str) -> Iterable[T]:
    """A progress bar on stderr, where that is a terminal."""
    bar = Console(stderr=True)
    return track(items, what, console=bar, transient=True, disable=not bar.is_terminal)


def machine() -> str:
    cores = os.cpu_count()
    return f"{platform.machine()}, {cores} cores, Python {platform.python_version()}"


def model_in_use() -> Asker:
    settings = config.load()
    asker = open_asker(settings.llm, cache_dir=settings.cache_dir, ledger=MemoryLedger())
    if asker is None:
        sys.exit("no language model is configured or installed: schedmate model install")
    return asker

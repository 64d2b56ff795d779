"""Readers by name. To add one: a file beside this one, and its class in `READERS`."""

from __future__ import annotations

from schedmate.advisor.readers.argparse_reader import ArgparseReader
from schedmate.advisor.readers.base import UNSTATED, Reader, Reading, Stated
from schedmate.advisor.readers.command_line import CommandLineReader
from schedmate.advisor.readers.constants import ConstantsReader
from schedmate.advisor.readers.endings import EndingsReader

READERS: tuple[Reader, ...] = (
    ArgparseReader(),
    ConstantsReader(),
    CommandLineReader(),
    EndingsReader(),
)

__all__ = ["READERS", "UNSTATED", "Reader", "Reading", "Stated"]

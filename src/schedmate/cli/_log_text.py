"""The text of a job's logs as it stands in the files: the end of it, and what is added to it."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schedmate.logs.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from io import FileIO

    from schedmate.model import Job

_BLOCK: Final = 1 << 16
_UNSAFE: Final = re.compile(
    rb"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-JL-ln-~]"
    rb"|\x1b[\]PX^_][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)?"
    rb"|\x1b(?!\[)[ -/]{0,4}[0-~]?"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f]"
)
"""What a terminal obeys but for colours, erasing a line, a new line and going back on it."""
_UNFINISHED: Final = re.compile(
    rb"(?:\x1b(?:\[[0-?]{0,40}[ -/]{0,4}|[\]PX^_][^\x07\x1b]{0,4000}|[ -/]{0,4})?|\xc2)\Z"
)


@dataclass(slots=True)
class LogText:
    """One log, read from where the last call has ended."""

    path: Path
    at: int = 0

    def added(self) -> Iterator[bytes]:
        """What was written since; a file that has become shorter is read from its beginning."""
        try:
            stream = open_regular(self.path)
        except FileNotFoundError:  # not written to yet
            return
        with stream:
            size = os.fstat(stream.fileno()).st_size
            self.at = 0 if size < self.at else self.at
            stream.seek(self.at)
            while self.at < size and (block := stream.read(min(_BLOCK, size - self.at))):
                self.at += len(block)
                yield block

    def skip_to_last(self, lines: int) -> None:
        """Begin so many lines before the end."""
        try:
            stream = open_regular(self.path)
        except FileNotFoundError:
            return
        with stream:
            self.at = _start_of_last(stream, lines)


def _start_of_last(stream: FileIO, lines: int) -> int:
    """A last line without its line feed is one as well."""
    end = os.fstat(stream.fileno()).st_size
    if lines == 0 or end == 0:
        return end
    stream.seek(end - 1)
    wanted = lines + (stream.read(1) == b"\n")
    at = end
    while at > 0:
        start = max(0, at - _BLOCK)
        stream.seek(start)
        block = stream.read(at - start)
        found = block.count(b"\n")
        if found >= wanted:
            place = len(block)
            for _ in range(wanted):
                place = block.rindex(b"\n", 0, place)
            return start + place + 1
        wanted, at = wanted - found, start
    return 0


class Output:
    """Standard output as bytes; a terminal gets no command that a log has for it."""

    def __init__(self) -> None:
        self._stream = sys.stdout.buffer
        self._is_terminal = sys.stdout.isatty()
        self._held = b""

    def write(self, text: bytes) -> None:
        if self._is_terminal:
            text = self._held + text
            cut = _UNFINISHED.search(text)
            text, self._held = (text, b"") if cut is None else (text[: cut.start()], cut[0])
            text = _UNSAFE.sub(b"", text)
        self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


def logs_of(job: Job, *, attempt: int | None = None) -> tuple[str, ...]:
    """The files of its latest attempt, or of an earlier one, counted from 1; () where none are
    known."""
    logs = _real(job.logs)
    if attempt is None or attempt == job.restarts + 1:
        return logs
    back = job.restarts - attempt
    earlier = _real(job.earlier_logs)
    return earlier[back * len(logs) : (back + 1) * len(logs)] if back >= 0 else ()


def _real(logs: Sequence[str]) -> tuple[str, ...]:
    return tuple(log for log in logs if log != os.devnull)

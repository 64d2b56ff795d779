"""One pass over all logs of a case, in bounded memory, for whatever may explain a failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.handler.reading.clues import Clue, Gathered
from schedmate.handler.reading.deadline import Deadline
from schedmate.handler.reading.origin import origins
from schedmate.handler.reading.reader import LogReader
from schedmate.handler.rules import BUILT_IN, RuleSet
from schedmate.logs import chunks_of, open_regular, pieces_of, plain

if TYPE_CHECKING:
    from schedmate.files import Reader
    from schedmate.handler.case import Case, NamedLog
    from schedmate.handler.reading.lines import LogLine


def gather(case: Case, rule_set: RuleSet = BUILT_IN, within_s: float | None = None) -> Gathered:
    """Read every log of the case once; `TakesLong` where that is not done in time."""
    deadline = Deadline(within_s)
    clues: list[Clue] = []
    tail: list[LogLine] = []
    unreadable: list[str] = []
    refused: list[str] = []
    lines, readable = 0, False
    names = [str(log) if isinstance(log, Path) else log.name for log in case.logs]
    for order, (log, origin) in enumerate(zip(case.logs, origins(names), strict=True)):
        reader = LogReader(
            names[order], order, rule_set, origin, nodes=case.nodes, deadline=deadline
        )
        try:
            _read(log, reader, case.reader)
        except OSError as error:
            unreadable.append(f"{names[order]} ({error.strerror or error})")
            refused += [] if isinstance(error, FileNotFoundError) else unreadable[-1:]
        clues += (replace(clue, reported_by=case.reporter(order)) for clue in reader.clues())
        tail += reader.tail()
        lines += reader.lines
        readable |= reader.readable
    return Gathered(
        clues=tuple(clues),
        tail=tuple(tail),
        unreadable=tuple(unreadable),
        refused=tuple(refused),
        lines=lines,
        readable=readable,
    )


def _read(log: Path | NamedLog, reader: LogReader, files: Reader) -> None:
    content = log if isinstance(log, Path) else log.content
    if isinstance(content, bytes):
        reader.read(plain(pieces_of(content)))
        return
    with open_regular(content, files) as stream:
        reader.read(plain(chunks_of(stream)))

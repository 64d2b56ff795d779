"""One pass over all logs of a case, in bounded memory, for whatever may explain a failure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schedmate.handler.reading.clues import Clue, Gathered
from schedmate.handler.reading.reader import LogReader
from schedmate.handler.rules import BUILT_IN, RuleBook
from schedmate.logs import chunks_of, open_regular, pieces_of, plain

if TYPE_CHECKING:
    from schedmate.files import Reader
    from schedmate.handler.case import Case, NamedLog
    from schedmate.handler.reading.lines import LogLine


def gather(case: Case, book: RuleBook = BUILT_IN) -> Gathered:
    """Read every log of the case once."""
    clues: list[Clue] = []
    tail: list[LogLine] = []
    unreadable: list[str] = []
    refused: list[str] = []
    lines, readable = 0, False
    names = [str(log) if isinstance(log, Path) else log.name for log in case.logs]
    for order, (log, origin) in enumerate(zip(case.logs, origins(names), strict=True)):
        reader = LogReader(names[order], order, book, origin, case.nodes)
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


_RANK: Final = re.compile(
    r"(?:^|[^a-z])(?:global_?)?(?:rank|worker|proc|task)[_.=-]?(\d{1,6})(?!\d)"
)
_TORCHRUN: Final = re.compile(r"attempt_(\d{1,4})/(\d{1,6})/std(?:out|err)")
_ATTEMPT: Final = re.compile(r"(?:^|[^a-z])(?:attempt|restart)[_.=-]?(\d{1,4})(?!\d)")
_NUMBERED: Final = re.compile(r"(.{0,300}\d{1,12}_)(\d{1,6})\.(?:out|err|log)$")


@dataclass(frozen=True, slots=True)
class Origin:
    rank: int | None = None
    attempt: int = 0


def origins(names: Sequence[str]) -> tuple[Origin, ...]:
    """`slurm-17_3.out` is a rank's only where others of job 17 stand beside it."""
    stems = [found[1] for name in names if (found := _NUMBERED.match(name))]
    return tuple(_origin(name.lower(), _numbered(name, stems)) for name in names)


def _numbered(name: str, stems: Sequence[str]) -> int | None:
    found = _NUMBERED.match(name)
    return int(found[2]) if found and stems.count(found[1]) > 1 else None


def _origin(name: str, numbered: int | None) -> Origin:
    torchrun = _TORCHRUN.search(name)
    if torchrun is not None:
        return Origin(rank=int(torchrun[2]), attempt=int(torchrun[1]))
    ranks = _RANK.findall(name)
    attempt = _ATTEMPT.search(name)
    return Origin(
        rank=int(ranks[-1]) if ranks else numbered,
        attempt=int(attempt[1]) if attempt else 0,
    )

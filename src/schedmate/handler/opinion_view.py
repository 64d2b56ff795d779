"""The lines of a failed run that a reading model is shown: at most 400, in the order of the logs.

Every line that a rule noticed and what stands round it, the end, the head, the first lines of each
rank, then the rest without routine. Lines between are left out, never changed: what is quoted from
the view can be looked up in the log.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schedmate.handler.reading.lines import DIGITS, blocks, clean, pieces, read_line
from schedmate.logs import chunks_of, open_regular, pieces_of, plain
from schedmate.model.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedmate.handler.case import Case, NamedLog
    from schedmate.handler.reading import Gathered, LogLine

MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 15_000
_WIDTH: Final = 300
_MOST_LOGS: Final = 16
_SMALL_LOG: Final = 500
_HEAD, _LONG_HEAD, _TAIL, _LONG_TAIL = 12, 30, 14, 60
_NEAR, _AROUND = 3, 8
_MOST_CLUES: Final = 40
_LOOKED_AT_FOR_RANKS: Final = 2000
_FIRST_OF_RANK: Final = 2
_MOST_RANKS: Final = 16
_SAME: Final = 2
"""So many lines that differ in digits only are shown; all of them where a rule noticed them."""
_CLUE, _END, _NEAR_CLUE, _BEGINNING, _FURTHER_END, _OF_RANK, _FURTHER, _REST = range(8)


@dataclass(frozen=True, slots=True)
class ShownLine:
    """`text` is what the model sees and may quote."""

    order: int
    number: int
    text: str
    raw: bytes = field(repr=False)

    @property
    def template(self) -> bytes:
        return self.raw.translate(None, DIGITS)


@dataclass(frozen=True, slots=True)
class FailureView:
    """For the model logs are numbered from 1; `lengths` are theirs, in lines."""

    lines: tuple[ShownLine, ...]
    lengths: tuple[int, ...]
    case: Case = field(repr=False)

    def as_text(self) -> str:
        return "\n".join(self._rows())

    def _rows(self) -> Iterator[str]:
        names, last = _short_names(self.case), (-1, 0)
        for line in self.lines:
            if line.order != last[0]:
                length = self.lengths[line.order]
                yield f"== log {line.order + 1}: {names[line.order]} ({length} lines)"
                last = (line.order, 0)
            if line.number > last[1] + 1:
                yield f"… {line.number - last[1] - 1} lines"
            yield f"{line.number}| {line.text}"
            last = (line.order, line.number)

    def quoted(self, log: int, number: int, text: str) -> LogLine | None:
        """The line that has this text to the letter; the number may be a little wrong."""
        wanted = text.strip()
        found = [line for line in self.lines if wanted and wanted in line.text]
        found.sort(key=lambda line: (line.order != log - 1, abs(line.number - number)))
        return self._log_line(found[0]) if found else None

    def _log_line(self, line: ShownLine) -> LogLine:
        """With the whole line as its text, as it was shown and quoted."""
        found = read_line(
            line.raw,
            file=_name(self.case.logs[line.order]),
            order=line.order,
            number=line.number,
            nodes=self.case.nodes,
        )
        return replace(found, text=line.text)


def failure_view(case: Case, gathered: Gathered) -> FailureView:
    lengths = [0] * len(case.logs)
    for line in gathered.tail:
        lengths[line.order] = max(lengths[line.order], line.number)
    wanted: list[tuple[int, ShownLine]] = []
    for order in _likeliest(case, gathered):
        places = _places(gathered, order, lengths[order])
        wanted += [
            (places.get(line.number, _REST), line)
            for line in _lines_of(case.logs[order], order, places, case)
        ]
    return FailureView(_chosen(wanted), tuple(lengths), case)


def _name(log: Path | NamedLog) -> str:
    return str(log) if isinstance(log, Path) else log.name


def _short_names(case: Case) -> list[str]:
    """Without the directory that all of them are in: where it lies is the site's business."""
    names = [_name(log) for log in case.logs]
    paths = [str(log.parent) for log in case.logs if isinstance(log, Path)]
    top = os.path.commonpath(paths) if paths and len({p[:1] == "/" for p in paths}) == 1 else ""
    return [name.removeprefix(f"{top}/") if top else name for name in names]


def _likeliest(case: Case, gathered: Gathered) -> list[int]:
    """Logs with a clue first, where there are many."""
    noticed = Counter(clue.line.order for clue in gathered.clues if clue.line is not None)
    orders = sorted(range(len(case.logs)), key=lambda order: (order not in noticed, order))
    return sorted(orders[:_MOST_LOGS])


def _places(gathered: Gathered, order: int, length: int) -> dict[int, int]:
    """Why a line is wanted, by its number; the best reason counts."""
    clues = sorted(gathered.clues, key=lambda clue: (not clue.final, clue.rule.weight))
    noticed = [clue for clue in clues if clue.line is not None and clue.line.order == order]
    centres = [line.number for clue in noticed[:_MOST_CLUES] for line in clue.shown]
    places: dict[int, int] = {}

    def want(numbers: Iterable[int], why: int) -> None:
        for number in numbers:
            places[number] = min(why, places.get(number, why))

    want(centres, _CLUE)
    want(range(length - _TAIL + 1, length + 1), _END)
    for centre in centres:
        want(range(centre - _NEAR, centre + _NEAR + 1), _NEAR_CLUE)
        want(range(centre - _AROUND, centre + _AROUND + 1), _FURTHER)
    want(range(1, _HEAD + 1), _BEGINNING)
    want(range(1, _LONG_HEAD + 1), _FURTHER)
    want(range(length - _LONG_TAIL + 1, length + 1), _FURTHER_END)
    if length <= _SMALL_LOG:
        want(range(1, length + 1), _REST)
    return places


def _lines_of(
    log: Path | NamedLog, order: int, places: dict[int, int], case: Case
) -> Iterator[ShownLine]:
    """The wanted lines, and the first of each rank; a block without any is only counted."""
    number, ranks = 1, Counter[int]()
    for block in _blocks(log, case):
        feeds = block.count(b"\n")
        if number <= _LOOKED_AT_FOR_RANKS or any(
            number <= place <= number + feeds for place in places
        ):
            for place, raw in pieces(block, number):
                if place not in places and place <= _LOOKED_AT_FOR_RANKS:
                    _want_first_of_rank(place, raw, places, ranks, case)
                text = redact(clean(raw))[:_WIDTH].replace("<|", "< ").replace("|>", " >")
                if place in places and text.strip():
                    yield ShownLine(order, place, text, raw[: 2 * _WIDTH + 200])
        number += feeds


def _want_first_of_rank(
    number: int, raw: bytes, places: dict[int, int], ranks: Counter[int], case: Case
) -> None:
    rank = read_line(raw, file="", order=0, number=number, nodes=case.nodes).rank
    if rank is not None and (rank in ranks or len(ranks) < _MOST_RANKS):
        ranks[rank] += 1
        if ranks[rank] <= _FIRST_OF_RANK:
            places[number] = _OF_RANK


def _blocks(log: Path | NamedLog, case: Case) -> Iterator[bytes]:
    content = log if isinstance(log, Path) else log.content
    if isinstance(content, bytes):
        yield from blocks(plain(pieces_of(content)))
        return
    try:
        with open_regular(content, case.reader) as stream:
            yield from blocks(plain(chunks_of(stream)))
    except OSError:
        return


def _chosen(wanted: list[tuple[int, ShownLine]]) -> tuple[ShownLine, ...]:
    wanted.sort(key=lambda pair: (pair[0], pair[1].order, pair[1].number))
    left, same = MOST_CHARACTERS, Counter[bytes]()
    chosen: list[ShownLine] = []
    for why, line in wanted:
        same[line.template] += 1
        if why > _NEAR_CLUE and same[line.template] > _SAME:
            continue
        left -= len(line.text) + 8
        if left < 0 or len(chosen) == MOST_LINES:
            break
        chosen.append(line)
    return tuple(sorted(chosen, key=lambda line: (line.order, line.number)))

"""The few lines of a failed run that a model or the memory is shown.

Only where rules leave the cause open, the ends of the logs are looked at once more: for lines
with a word of trouble, lines unlike all others, and the last lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import re2

from schedmate.files import Reader
from schedmate.handler.case import Case, NamedLog
from schedmate.handler.reading import Gathered, LogLine
from schedmate.handler.reading.lines import pieces, read_line, templates
from schedmate.logs import is_plain, open_regular

MOST_LINES: Final = 14
_CLUE_LINES: Final = 6
_LAST_LINES: Final = 3
_FEW_LINES: Final = 8
_MOST_UNUSUAL: Final = 16
_END_BYTES: Final = 1 << 17
_ALL_BYTES: Final = 1 << 20
_LEAST_BYTES: Final = 1 << 13
_HEAD_BYTES: Final = 1 << 12
_MOST_LOGS: Final = 512
_COMMON: Final = 3
_BURST: Final = 2
"""Lines between two that differ only in digits, where many ranks print the same at once."""

_TROUBLE: Final = re2.compile(
    r"(?i)error|fail|fatal|panic|cannot|can.t |could ?n.t|could not|unable|refus|denied|reject|"
    r"invalid|missing|not found|no such|abort|giv(?:e|ing) up|gave up|corrupt|broken|truncat|"
    r"cut short|mismatch|does ?n.t|does not|do not|did not|not accepted|expired|exceed|exhaust|"
    r"out of |no longer|insufficient|too (?:large|big|many|few|small|old|new|long|short|hot)|"
    r"time[ds]?[ -]?out|unreachable|\blost\b|\bdead\b|\bdied\b|crash|kill|overflow|\bnan\b|diverg|"
    r"\bbad\b|illegal|wrong|\bmust\b|expected|unknown|unrecogni|limit|quota|forbidden|unauthori|"
    r"licen[cs]e|not enough|no more|unsupported|not support|incompatible|conflict|stale|stuck|"
    r"\bhung\b|disconnect|\breset\b|remain|has no |have no |was not|is not|are not|undefined|"
    r"violat|threshold|\bnever\b|may not|used up|garbage|overheat|throttl|unavailable|no route|"
    r"\bdown\b|\bempty\b"
)
_ENDING: Final = re2.compile(
    r"(?i)^(?:\W{0,20}|\W?\w{1,20}\W{1,3})(?:bye|done|stop\w{0,5}|exit\w{0,4}|abort\w{0,4}|quit\w{0,4}|"
    r"giv\w{1,4} up|gave up|shutting down|clean\w{0,4} up|refusing to go on|not going on|leaving|"
    r"halt\w{0,3}|ending|bailing out|dropping out|terminat\w{1,4})\b.{0,20}$"
)
"""Announces the end without its cause."""


@dataclass(frozen=True, slots=True)
class _Unusual:
    line: LogLine
    score: int


def unusual_lines(case: Case, gathered: Gathered) -> tuple[LogLine, ...]:
    """Lines near the end with a word of trouble, or unlike all others; the most unusual first."""
    found: list[_Unusual] = []
    tails: dict[int, list[LogLine]] = {}
    for line in gathered.tail:
        tails.setdefault(line.order, []).append(line)
    share = max(_LEAST_BYTES, min(_END_BYTES, _ALL_BYTES // max(1, len(case.logs))))
    for order, tail in list(tails.items())[:_MOST_LOGS]:
        found += _unusual_in(_end_of(case.logs[order], share, case.reader), tail)
    found.sort(key=lambda unusual: unusual.score, reverse=True)
    return tuple(unusual.line for unusual in found[:_MOST_UNUSUAL])


def excerpt(gathered: Gathered, unusual: Sequence[LogLine]) -> tuple[LogLine, ...]:
    """Matches of rules, unusual lines and the last lines, in the order of the logs."""
    chosen: dict[tuple[tuple[int, int], str], LogLine] = {}
    by_weight = sorted(gathered.clues, key=lambda clue: (not clue.final, clue.rule.weight))
    noticed = [line for clue in by_weight for line in clue.shown]
    last = list(reversed(gathered.tail))
    for lines, room in (
        (noticed, _CLUE_LINES),
        (last[:_LAST_LINES], MOST_LINES),
        (unusual, MOST_LINES),
        (last, _FEW_LINES),
    ):
        for line in lines:
            if len(chosen) < room:
                chosen.setdefault((line.place, line.text), line)
    return tuple(sorted(chosen.values(), key=lambda line: line.place))


def candidate_lines(view: Sequence[LogLine], unusual: Sequence[LogLine]) -> tuple[LogLine, ...]:
    """Lines of the excerpt that may name a cause: words of trouble, else unlike all others."""
    rare = [line for line in view if line in unusual and not _ENDING.search(line.text)]
    able = [line for line in view if mentions_trouble(line.text)]
    return tuple(able or rare or view)


def mentions_trouble(text: str) -> bool:
    return bool(_TROUBLE.search(text)) and not _ENDING.search(text)


def _end_of(log: Path | NamedLog, size: int, reader: Reader) -> bytes:
    """The log's last bytes, from the beginning of a line on."""
    content = log if isinstance(log, Path) else log.content
    if isinstance(content, bytes):
        head, end, whole = content[:_HEAD_BYTES], content[-size:], len(content) <= size
    else:
        try:
            with open_regular(content, reader) as stream:
                head = stream.read(_HEAD_BYTES)
                length = stream.seek(0, 2)
                stream.seek(max(0, length - size))
                end, whole = stream.read(size), length <= size
        except OSError:
            return b""
    if not is_plain(head):
        return b""
    return end if whole else end.partition(b"\n")[2]


def _unusual_in(end: bytes, tail: Sequence[LogLine]) -> Iterator[_Unusual]:
    """Score the end of one log; its tail gives the line numbers."""
    if not end or not tail:
        return
    raws = list(pieces(end, 0))
    last = max((index for index, (_, raw) in enumerate(raws) if raw.strip()), default=0)
    first_number = tail[-1].number - raws[last][0]
    rare = [
        places
        for key, places in _places(templates(end)).items()
        if key.strip() and not _is_routine(places)
    ]
    rare.sort(key=lambda places: places[-1], reverse=True)
    for late, places in enumerate(rare):
        offset, raw = raws[places[0]]
        line = read_line(raw, file=tail[0].file, order=tail[0].order, number=first_number + offset)
        score = _score(line.text, alone=len(places) == 1, late=late)
        if score > 0:
            yield _Unusual(line, score)


def _places(keys: Sequence[bytes]) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for index, key in enumerate(keys):
        found.setdefault(key, []).append(index)
    return found


def _is_routine(places: Sequence[int]) -> bool:
    """Whether it recurs among other lines; what all ranks print at once is no routine."""
    span = places[-1] - places[0] + 1
    return len(places) >= _COMMON and span > _BURST * len(places)


def _score(text: str, *, alone: bool, late: int) -> int:
    """Words of trouble count most, then being unique, then being late."""
    if not _TROUBLE.search(text):
        return 0 if late > _MOST_UNUSUAL or not alone else _MOST_UNUSUAL - late
    weight = 20 if _ENDING.search(text) else 200
    return weight + 30 * alone + max(0, 100 - late)

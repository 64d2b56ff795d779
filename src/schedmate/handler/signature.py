"""The same failure has the same signatures, whatever its numbers, paths, names and ranks, and
whatever was printed after it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schedmate.handler.case import Case
from schedmate.handler.reading import Clue, LogLine

_HOST_ENDS: Final = (
    "local|localdomain|internal|lan|cluster|com|org|net|edu|gov|io|ai|eu|de|fr|uk|cn"
)
_NUMBERS: Final = (
    (
        re.compile(r"\b0x[0-9a-fA-F]{1,32}\b|\b(?=[a-f-]{0,40}\d)[0-9a-f]{8}[0-9a-f-]{0,56}\b"),
        "<hex>",
    ),
    (
        re.compile(r"\b(host|node|server|peer)([ =:]{1,3})[a-z][a-z-]{0,40}\d[\w.-]{0,80}"),
        r"\1\2<host>",
    ),
    (
        re.compile(r"\d{1,400}(?:[.,:]\d{1,400}){0,40}(?:[eE][+-]?\d{1,4})?(?: ?[KMGT]i?B\b)?"),
        "<n>",
    ),
)
_PLACES: Final = (
    (re.compile(r"\b[a-z][a-z0-9+]{1,10}://[^\s'\"]{1,400}"), "<url>"),
    (re.compile(r"(?:\b[\w.\-~]{1,200})?(?:/[\w.\-+@=%]{1,200}){1,60}/?"), "<path>"),
    (re.compile(r"\b[\w.-]{1,64}@[\w-][\w.-]{0,120}"), "<name>"),
    (
        re.compile(r"\b((?:for|by|as|of) user |user(?:name)?[=:] ?)[a-z_][\w-]{0,31}"),
        r"\1<name>",
    ),
    (
        re.compile(rf"\b(?:[a-z0-9][\w-]{{0,60}}\.){{1,8}}(?:{_HOST_ENDS})\b(?::\d{{1,5}})?"),
        "<host>",
    ),
)
_QUOTED: Final = (
    (re.compile(r"(?<!\w)(?:'[^']{0,400}'|\"[^\"]{0,400}\"|`[^`]{0,400}`)(?!\w)"), "<q>"),
)
_BLANKS = re.compile(r"\s{1,400}")
_WORD = re.compile(r"[^\W\d_]{3,40}|[^\W\d_a-zA-Z]{2,40}")
_STAND_IN = re.compile(r"<[a-z]{1,4}>")
_FRAME = re.compile(r'\s{0,40}File "[^"]{1,400}", line \d{1,9}, in ([\w.<>]{1,120})')
_NOISE = re.compile(
    "error|errors|failed|failure|fatal|warning|info|debug|critical|exception|runtimeerror|none|"
    "true|false|step|epoch|loss|the|and|for|not|with|was|are|has|had|its|this|that|from"
)
_DISTINCTIVE_WORDS: Final = 3
_LAST_WORDS: Final = 3
_MOST_KEYS: Final = 16


@dataclass(frozen=True, slots=True)
class Key:
    """One thing by which the failure is recognised, and the line that shows it."""

    signature: str
    line: LogLine


def masked(text: str) -> str:
    """What stays the same of a line from one run to the next."""
    return _mask(text, (*_QUOTED, *_PLACES, *_NUMBERS))


def distinctive_words(text: str) -> list[str]:
    """Words of a masked line that set it apart from others, in lower case."""
    words = (word.lower() for word in _WORD.findall(_STAND_IN.sub(" ", text)))
    return [word for word in words if not _NOISE.fullmatch(word)]


def is_distinctive(text: str) -> bool:
    """Whether a masked line alone identifies a failure."""
    return len(set(distinctive_words(text))) >= _DISTINCTIVE_WORDS


def keys_of_cause(case: Case, clue: Clue) -> tuple[Key, ...]:
    """Keys of exception and call sites, then of the exception alone where that is distinctive."""
    if clue.line is None:
        return ()
    message = clue.message.partition("\n")[0]
    functions = [found[1] for line in clue.shown if (found := _FRAME.match(line.text))]
    general = masked(message)
    keys = []
    if functions:
        keys.append(Key(_digest("raised", general, *functions), clue.line))
    if is_distinctive(general):
        keys.append(Key(_digest("line", general), clue.line))
    if not keys:  # too little to go by: names in quotes count
        named = _mask(message, (*_PLACES, *_NUMBERS))
        keys.append(Key(_digest("named", named, _verdict(case)), clue.line))
    return tuple(keys)


def keys_of_lines(
    case: Case, unusual: Sequence[LogLine], tail: Sequence[LogLine]
) -> tuple[Key, ...]:
    """A key for each distinctive line, the most unusual first; then one for the last lines."""
    distinctive = [
        (line, general) for line in unusual if is_distinctive(general := masked(line.text))
    ]
    keys = [Key(_digest("line", general), line) for line, general in distinctive[:_MOST_KEYS]]
    last = tail[-_LAST_WORDS:]
    if last:
        words = [masked(line.text) for line in last]
        keys.append(Key(_digest("last words", _verdict(case), *words), last[-1]))
    return tuple(keys)


def _mask(text: str, masks: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, stand_in in masks:
        text = pattern.sub(stand_in, text)
    return _BLANKS.sub(" ", text).strip()


def _verdict(case: Case) -> str:
    return f"{case.state or ''}|{case.exit_code}|{case.signal}|{case.hung}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:32]

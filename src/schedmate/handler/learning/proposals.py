"""From the line that shows a cause to a pattern for lines like it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

import re2

from schedmate.handler.signature import distinctive_words, is_distinctive, masked
from schedmate.model import BadInput

_WILDCARDS: Final = {
    "q": r"(?:'[^']{0,200}'|\"[^\"]{0,200}\"|`[^`]{0,200}`)",
    "n": r"[\d.,:]{1,40}(?:[eE][+-]?\d{1,4})?(?: ?[KMGT]i?B)?",
    "hex": r"[\w-]{1,64}",
}
_ANYTHING: Final = r"\S{1,200}"
_STAND_IN = re.compile(r"<(q|url|path|hex|n|host|name)>")
_LEAD = re.compile(
    r"^(?:[\s\[\]():|,;*#>-]|<[a-z]{1,4}>|\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b"
    r"|\b[\w.-]{1,80}\.(?:py|cc|cpp|cu|c|h|go|rs):<n>){1,60}"
)
"""What a logger puts before the words: times, levels, places."""
_SPECIAL = re.compile(r"([\\.^$*+?()\[\]{}|])")
_BLANK = re.compile(" (?![?])")
_RUN = re.compile(r"[^\d<>]{1,200}")
_LONGEST: Final = 300
_LEAST_LETTERS: Final = 14
_LEAST_WORD: Final = 6
_LONGEST_WORD: Final = 60
MOST_PATTERN: Final = 2000
_MOST_MEMORY: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Proposal:
    pattern: str
    words: tuple[str, ...]


def propose(line: str) -> Proposal:
    """A pattern of the line's words, with wildcards for its numbers, paths and names."""
    general = masked(line)
    general = _LEAD.sub("", general, count=1)[:_LONGEST].strip()
    words = distinctive_words(general)
    if not is_distinctive(general) or sum(len(word.encode()) for word in words) < _LEAST_LETTERS:
        raise BadInput(
            f"too general for a rule, it would match other lines too: {line.strip()[:100]!r}"
        )
    pieces = _STAND_IN.split(general)
    pattern = "".join(
        _WILDCARDS.get(piece, _ANYTHING) if index % 2 else _SPECIAL.sub(r"\\\1", piece)
        for index, piece in enumerate(pieces)
    )
    return Proposal(_BLANK.sub(r"\\s+", pattern), (_longest_run(pieces[::2], line),))


def compiled(pattern: str) -> re2._Regexp:
    """Linear time and little memory, or a `BadInput`."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    if len(pattern) > MOST_PATTERN:
        raise BadInput(f"a pattern of {len(pattern)} characters is too long")
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        detail = error.args[0] if error.args else "?"
        text = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
        raise BadInput(f"not a pattern that RE2 can read: {text}") from error


def rule_id(reason: str, pattern: str) -> str:
    """The same rule has the same id wherever it is learnt."""
    return "r" + hashlib.sha256(f"{reason}\n{pattern}".encode()).hexdigest()[:7]


def _longest_run(literals: list[str], line: str) -> str:
    """The longest piece that is in every such line, as the reader of lines compares it."""
    runs = [run.strip() for piece in literals for run in _RUN.findall(piece)]
    longest = max((run for run in runs if run in line), key=len, default="")
    if len(longest) < _LEAST_WORD:
        raise BadInput("too general for a rule: its words stand too far apart")
    return _ascii_lower(longest[:_LONGEST_WORD])


def _ascii_lower(text: str) -> str:
    return text.encode(errors="replace").lower().decode(errors="replace")

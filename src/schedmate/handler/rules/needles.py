"""The most selective literal part of a pattern: every match contains it.

What stands on the other side of a wide gap (`.{0,200}`) is left out, so that one small automaton
can look for the needles of all rules at once. What only the needle matches is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

import re2

from schedmate.handler.rules.base import Pattern

_TOKEN: Final = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|\(\?(?:P?<\w{1,40}>|[a-zA-Z]{0,6}:)|\((?:\?(?:<[=!]|[=!]))?|\)"
    r"|\{\d{1,6}(?:,\d{0,6})?\}\??|[*+?]\??|[\w ,:;'\"/<>=@!#%&~-]{2,400}(?![*+?{])|.",
    re.DOTALL,
)
_UNICODE: Final = re.compile(r"\\[wdsWDS]")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]{1,8})\)")
_REPEATS: Final = frozenset("{*+?")
_ENDS: Final = frozenset(("", "|", ")"))
_WIDE: Final = 9
_TELLING: Final = 12
"""Letters that are enough."""
_COMMON: Final = re.compile(
    r" {0,2}(?:checkpoint|ckpt|weights|environment(?: variable)?|requires|model|file|data"
    r"|dataset|worker|process|memory|loss|loading|training|rank|node|config|tensor|version)s?"
    r" {0,2}",
    re.IGNORECASE,
)
_LITTLE: Final = 2
_ENDLESS: Final = 1 << 20
_BEYOND_ASCII: Final = r"\x80-\xff"
_KINDS: Final = {
    **dict.fromkeys(("^", "$", r"\A", r"\Z", r"\b", r"\B"), ""),
    **{kind: f"[{kind}{_BEYOND_ASCII}]+" for kind in (r"\w", r"\S", r"\d", r"\D", r"\W")},
    r"\s": r"[\s\x80-\xaf\xc2\xe2]",
    ".": ".",
}
"""Edges are left out: a launcher may have put something before the line."""


def options(megabytes: int, *, one_line: bool = False) -> re2.Options:
    """Bytes of any encoding, and how much memory the automaton may take to be fast."""
    chosen = re2.Options()
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.log_errors = False
    chosen.never_capture = True
    chosen.never_nl = one_line
    chosen.max_mem = megabytes << 20
    return chosen


_READING: Final = options(2)


class Wide:
    """What RE2 makes of a pattern; whatever the pattern matches, these match too."""

    def __init__(self, needles: tuple[bytes, ...] = (), source: bytes | None = None) -> None:
        self.needles = needles
        """Alternatives, one of which is in every match; none where there is no such thing."""
        self._source = source

    @cached_property
    def whole(self) -> re2._Regexp | None:
        """None where RE2 cannot read it; compiled when it is asked, as few of them ever are."""
        try:
            return None if self._source is None else re2.compile(self._source, _READING)
        except re2.error:
            return None


def widened(pattern: Pattern) -> Wide:
    flags = getattr(pattern, "flags", 0)
    opening = _FLAGS.match(pattern.pattern)
    letters = opening[1] if opening else ""
    if flags & re.VERBOSE or "x" in letters:
        return Wide()
    cased = getattr(pattern, "options", _READING).case_sensitive and "i" not in letters
    text = pattern.pattern[opening.end() :] if opening else pattern.pattern
    return _widened(text, ignore_case=not cased or bool(flags & re.IGNORECASE))


@lru_cache(maxsize=4096)
def _widened(text: str, *, ignore_case: bool) -> Wide:
    read = _Reading(text).whole()
    begin, end = ("(?i:", ")") if ignore_case else ("", "")
    needles = tuple(f"{begin}{one}{end}".encode() for one in read.best)
    return Wide(needles, f"{begin}{read.source}{end}".encode())


def sound(needles: Iterable[bytes]) -> list[bytes]:
    """Those that RE2 can read."""
    return [needle for needle in needles if _is_sound(needle)]


def _is_sound(needle: bytes) -> bool:
    try:
        re2.compile(needle, _READING)
    except re2.error:
        return False
    return True


class _Piece(NamedTuple):
    """`best` is what its matches cannot do without, with `weight` letters at least."""

    source: str
    best: tuple[str, ...] = ()
    weight: int = 0
    gap: bool = False
    """Has a gap in it, or is one."""


_NOTHING: Final = _Piece("")


class _Run:
    """Neighbours without a gap between them, from the first letter to the last."""

    def __init__(self) -> None:
        self._source = self._open_end = ""
        self._alone: tuple[str, ...] | None = None
        self.weight = 0

    def add(self, piece: _Piece) -> None:
        if self.weight >= _TELLING or (not self.weight and not piece.weight):
            return
        if not piece.weight:
            self._open_end += piece.source
            return
        self._alone = None if self.weight else piece.best
        self._source += self._open_end + piece.source
        self._open_end = ""
        self.weight += piece.weight

    @property
    def best(self) -> tuple[str, ...]:
        return self._alone or (self._source,)


class _Reading:
    """Recursive descent over the pattern's tokens."""

    def __init__(self, text: str) -> None:
        self._tokens = [*_TOKEN.findall(text), ""]
        self._at = 0

    def whole(self) -> _Piece:
        """Alternatives: each must contribute, or none of them is always there."""
        branches = [self._sequence()]
        while self._tokens[self._at] == "|":
            self._at += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        weight = min(branch.weight for branch in branches)
        best = tuple(one for branch in branches for one in branch.best) if weight else ()
        source = f"(?:{'|'.join(branch.source for branch in branches)})"
        return _Piece(source, best, weight, any(branch.gap for branch in branches))

    def _sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while self._tokens[self._at] not in _ENDS:
            pieces.append(self._repeated())
        if len(pieces) == 1 and pieces[0].weight:
            return pieces[0]
        runs = [_Run()]
        for piece in pieces:
            if piece.gap:
                runs.append(_Run())
            else:
                runs[-1].add(piece)
        gaps = [piece for piece in pieces if piece.gap]
        run = max(runs, key=lambda one: one.weight)
        inside = max(gaps, key=lambda one: one.weight, default=_NOTHING)
        source = "".join(piece.source for piece in pieces)
        if inside.weight > run.weight:
            return _Piece(source, inside.best, inside.weight, gap=True)
        return _Piece(source, run.best if run.weight else (), run.weight, bool(gaps))

    def _repeated(self) -> _Piece:
        token = self._tokens[self._at]
        piece = self._atom()
        repeat = self._tokens[self._at]
        if repeat[:1] not in _REPEATS or repeat == "{":
            return piece
        self._at += 1
        least, most = _bounds(repeat)
        needed = piece if least else _NOTHING
        gap = piece.gap or (most > _WIDE and not _is_narrow(token, piece))
        times = "?" if most == 1 else "+" if least else "*"
        return _Piece(f"(?:{piece.source}){times}", needed.best, needed.weight, gap)

    def _atom(self) -> _Piece:
        token = self._tokens[self._at]
        self._at += 1
        if token[0] == "(":
            return self._group(token)
        if token[0] == "[":
            return _Piece(_bytes_of_class(token))
        if token in _KINDS:
            return _Piece(_KINDS[token])
        return _Piece(token, (token,), _letters(token))

    def _group(self, opening: str) -> _Piece:
        inside = self.whole()
        self._at += 1
        if opening[:3] in ("(?=", "(?!", "(?<") and not opening.endswith(">"):
            return _NOTHING
        flags = opening if opening.endswith(":") else "(?:"
        best = tuple(f"{flags}{one})" for one in inside.best) if flags != "(?:" else inside.best
        return _Piece(f"{flags}{inside.source})", best, inside.weight, inside.gap)


@cache
def _letters(token: str) -> int:
    """How selective a stretch of text is; words of every training log hardly are."""
    if token[0] == "\\":
        return 1
    return len(token) if _COMMON.fullmatch(token) is None else _LITTLE


@cache
def _bounds(repeat: str) -> tuple[int, int]:
    if repeat[0] != "{":
        return {"*": (0, _ENDLESS), "+": (1, _ENDLESS), "?": (0, 1)}[repeat[0]]
    least, comma, most = repeat.removesuffix("?").strip("{}").partition(",")
    return int(least), int(most) if most else _ENDLESS if comma else int(least)


def _is_narrow(token: str, piece: _Piece) -> bool:
    """Repeats that end soon by themselves: one letter, digits, the letters of a word."""
    if token[0] == "[":
        return token[1] != "^" and r"\S" not in token
    return token in (r"\d", r"\s", r"\w") or (piece.weight == 1 and token[0] != "(")


@cache
def _bytes_of_class(token: str) -> str:
    """One character outside ASCII is several bytes."""
    if token.isascii() and not token.startswith("[^") and not _UNICODE.search(token):
        return token
    ascii_only = "".join(char for char in token[:-1] if char.isascii())
    more = "" if token.startswith("[^") else _BEYOND_ASCII
    return f"{ascii_only}{more}]+"

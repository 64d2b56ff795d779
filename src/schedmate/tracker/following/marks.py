"""What makes a line worth reading among a million of its kind, in patterns of linear time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import re2

_BAR_END = rb"100%(?:\||[^\d\s]{0,2}\s{0,2}[\[|#=])"
"""The end of a bar's round. Its rounds may be the epochs, so none of them may be missed."""

MARKS: dict[str, bytes] = {
    "bar_end": _BAR_END,
    "epoch": rb"epoch[^\w\n\r\x08]{0,4}\d",
    "failure": rb"traceback \(|slurmstepd|\berror\b|exception|\bkilled\b|out of memory|core dumped",
    "evaluation": rb"evaluat|\bvalidat|\bval[\s_:=/-]|\beval[\s_:=/-]|\btest[\s_](?:loss|acc)",
    "checkpoint": rb"checkpoint|\bckpt|snapshot|\bsav(?:e|ed|ing)\b",
    "full": rb"\b100(?:\.0{1,4})?\s?%",
    "end": rb"finish|complet|stopp|\bdone\b|\bended\b|early.stop",
    "total": (
        rb"num[\s_](?:train[\s_])?(?:epochs|steps|examples)|total[\s_-][\w\s]{0,24}(?:steps|epochs)"
        rb"|max[\s_-](?:steps|epochs|iters|iterations)|train[\s_-]iters"
    ),
    "mllog": rb":::MLL",
    "mllog_key": rb'"key": ?"(?:run_st|eval_acc|\w{0,40}(?:_max|target|max_))',
    "resume": rb"\bresum|\brestor(?:e|ed|ing)\b",
    "link": rb"https?://",
    "nan": rb"[=:\s]nan\b",
    "begin": rb"\bstart(?:ed|ing)?\b|\bbegin",
}


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.never_capture = True
    return options


_EACH = {
    name: re2.compile(mark, _options())
    for name, mark in MARKS.items()
    if name not in ("bar_end", "full")
}
"""Without those that only some lines of a shape carry."""
_FULL = re2.compile(MARKS["full"], _options())
_MOST_KNOWN = 1024
_MUCH = 0.2
"""What stands in more than this share of the lines tells nothing."""


@lru_cache(maxsize=64)
def pattern(common: frozenset[str], totals: tuple[bytes, ...]) -> re2._Regexp:
    """One alternation of all marks but the common ones, and of counts that reached their total."""
    kinds = [mark for name, mark in MARKS.items() if name not in common]
    ends = [rb"\b" + total + rb"\s{0,2}/\s{0,9}" + total + rb"\b" for total in totals]
    return re2.compile(b"|".join(kinds + ends), _options())


def common_in(lines: Iterable[tuple[bytes, bytes]]) -> frozenset[str]:
    """Name the marks that too many of these lines, each with its shape, carry.

    The ends of bars are never among them.
    """
    carried = [_of_shape(shape, line) for shape, line in lines]
    seen = Counter(name for names in carried for name in names)
    return frozenset(name for name, times in seen.items() if times > _MUCH * len(carried))


def _of_shape(shape: bytes, line: bytes) -> tuple[str, ...]:
    """Which marks lines of a shape carry, by the first one seen."""
    if shape not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[shape] = tuple(name for name, mark in _EACH.items() if mark.search(line))
    return (*_known[shape], "full") if _FULL.search(line) else _known[shape]


_known: dict[bytes, tuple[str, ...]] = {}

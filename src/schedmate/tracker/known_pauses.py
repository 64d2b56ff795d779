"""Pauses that a log announces: a silence after such a line is expected, and may be long."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schedmate.model import KnownPause
from schedmate.tracker.scan import LogScan

_WORDS: Final[dict[KnownPause, str]] = {
    "checkpointing": r"\b(?:sav(?:e|ing)|writ(?:e|ing)|upload(?:ing)?|dump(?:ing)?)\b.{0,60}"
    r"\b(?:checkpoints?|ckpts?|weights|state|snapshot|model)\b|\bcheckpointing\b",
    "evaluating": r"\b(?:evaluat(?:e|ing|ion)|validat(?:e|ing|ion)|eval|testing|inference"
    r"|generating|predicting|benchmarking)\b",
    "compiling": r"\bcompil(?:e|ing|ation)\b|\bautotun(?:e|ing)\b|\btorch\.compile\b|\bXLA\b"
    r"|\binductor\b|\bbuild(?:ing)? (?:extension|engine|graph|kernel)|\b(?:tracing|linking)\b"
    r"|\bcapturing\b.{0,20}\bgraphs?\b|\bninja\b|^\s*(?:gcc|g\+\+|nvcc|cc|c\+\+|clang)\s",
    "loading": r"\b(?:load(?:ing)?|download(?:ing)?|preprocess(?:ing)?|tokeniz(?:e|ing)"
    r"|shuffling|indexing|copying|extracting|unpacking|warm(?:ing)?[ -]?up|resuming|restoring)\b",
}
"""Add a pause by a word here and a line to `tests/tracker/test_known_pauses.py`."""
_PATTERNS = {pause: re.compile(words, re.IGNORECASE) for pause, words in _WORDS.items()}


def known_pause(scans: Iterable[LogScan]) -> KnownPause | None:
    """What the newest line of one of the logs announced, None where it announced nothing."""
    for scan in scans:
        if scan.pausing:
            return "evaluating" if scan.hint == "evaluating" else "checkpointing"
        for pause, pattern in _PATTERNS.items():
            if pattern.search(scan.newest):
                return pause
    return None

"""What the job is doing: training, in an announced pause, stalled, finished or failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schedmate.model import KnownPause, Phase
from schedmate.tracker.facts import Facts
from schedmate.tracker.run_position import RunPosition
from schedmate.tracker.scan import LogScan


def phase_of(facts: Facts, scan: LogScan, position: RunPosition) -> Phase:
    if _is_failed(facts):
        return "failed"
    if _is_finished(facts, scan, position):
        return "finished"
    busy: Phase = "training"
    if scan.pausing and scan.hint is not None:
        busy = scan.hint
    patient = busy != "training" or known_pause(facts.scans) is not None
    return "stalled" if facts.is_stalled(patient=patient) else busy


def bare_phase(facts: Facts) -> Phase:
    """The phase by the logs' words, where nothing is counted."""
    if _is_failed(facts):
        return "failed"
    if any(scan.declared("finished") for scan in facts.scans):
        return "finished"
    asides = [scan.table.auxiliary(None) for scan in facts.scans]
    stated = [one.auxiliary for one in asides if one is not None and one.auxiliary is not None]
    hinted = [scan.hint for scan in facts.scans if scan.hint is not None]
    busy = next(iter(stated + hinted), "unknown" if facts.now is None else "starting")
    patient = bool(stated or hinted) or known_pause(facts.scans) is not None
    return "stalled" if facts.is_stalled(patient=patient) else busy


def _is_failed(facts: Facts) -> bool:
    return any(scan.ending.failed or scan.declared("failed") for scan in facts.scans)


def _is_finished(facts: Facts, scan: LogScan, position: RunPosition) -> bool:
    """Declared in words, or counted to the end; a doubtful end only once nothing follows it."""
    if scan.declared("finished"):
        return True
    auxiliary = scan.table.auxiliary(position.series)
    if auxiliary is not None and not auxiliary.complete:
        return False
    if position.complete:
        return True
    nothing_follows = facts.now is None or facts.is_quiet()
    return position.may_be_complete and nothing_follows


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

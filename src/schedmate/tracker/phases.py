"""What the job is doing: training, in an announced pause, stalled, finished or failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from schedmate.logs.lazy_patterns import lazy_pattern
from schedmate.model import KnownPause, Phase
from schedmate.tracker.counting.series import Series
from schedmate.tracker.counting.table import LEARNED
from schedmate.tracker.facts import Facts
from schedmate.tracker.position import RunPosition
from schedmate.tracker.scan import LogScan

_SETTLED_S = 10.0
_NEARLY = 0.95
"""A last word is believed where so much of a known total is done."""
_ABOVE = 2
"""So many lines above a bar may say what it is of."""


def phase_of(facts: Facts, scan: LogScan, position: RunPosition) -> Phase:
    if facts.ended is not None:
        return facts.ended
    if _is_failed(facts):
        return "failed"
    if not facts.writing and _is_finished(facts, scan, position):
        return "finished"
    paused = scan.pausing and scan.hint is not None
    patient = paused or known_pause(facts.scans) is not None
    if facts.is_stalled(patient=patient):
        return "stalled"
    return scan.hint if paused and scan.hint is not None else working_phase(facts)


def working_phase(facts: Facts) -> Phase:
    """`training` where anything shows that it is one; else what goes on is unknown."""
    workload = facts.workload
    declared = workload is not None and (
        workload.framework is not None or workload.epochs is not None
    )
    trains = declared or any(scan.trains for scan in facts.scans)
    return "training" if trains else "unknown"


def bare_phase(facts: Facts) -> Phase:
    """The phase by the logs' words, where nothing is counted."""
    if facts.ended is not None:
        return facts.ended
    if _is_failed(facts):
        return "failed"
    closed = _nothing_follows(facts) and any(scan.closed() for scan in facts.scans)
    over = closed or any(scan.declared("finished") for scan in facts.scans)
    if over and not facts.writing:
        return "finished"
    beside = [scan.table.auxiliary(None) for scan in facts.scans]
    stated = [one.auxiliary for one in beside if one is not None and one.auxiliary is not None]
    hinted = [scan.hint for scan in facts.scans if scan.hint is not None]
    busy = next(iter(stated + hinted), "unknown" if facts.now is None else "starting")
    patient = bool(stated or hinted) or known_pause(facts.scans) is not None
    return "stalled" if facts.is_stalled(patient=patient) else busy


def _is_failed(facts: Facts) -> bool:
    return any(scan.ending.failed or scan.declared("failed") for scan in facts.scans)


def _is_finished(facts: Facts, scan: LogScan, position: RunPosition) -> bool:
    """Declared in words, or counted to the end; a doubtful end only once nothing follows it."""
    if _another_follows(facts, scan, position):
        return False
    if scan.declared("finished") and (_ends_the_run(scan) or facts.gone):
        return True
    auxiliary = scan.table.auxiliary(position.series)
    if auxiliary is not None and not auxiliary.complete:
        return False
    if position.complete and not _just_written(facts):
        return True
    closed = scan.closed() and (position.fraction is None or position.fraction >= _NEARLY)
    if (position.may_be_complete or closed) and _nothing_follows(facts):
        return True
    return facts.gone and _was_left_at_its_end(scan, position)


def is_complete(facts: Facts, scan: LogScan, position: RunPosition) -> bool:
    """Whether the work was done, whatever came after it: only what the log surely shows."""
    if _another_follows(facts, scan, position):
        return False
    if scan.declared("finished") and _ends_the_run(scan):
        return True
    auxiliary = scan.table.auxiliary(position.series)
    if auxiliary is not None and not auxiliary.complete:
        return False
    if scan.closed() and (position.fraction or 0.0) >= _NEARLY:
        return True
    return position.complete or _is_only_count(facts, scan, position)


def _is_only_count(facts: Facts, scan: LogScan, position: RunPosition) -> bool:
    """A bar without a description came to its end, and no other count or word says that it was
    one of several, or that it made something ready."""
    bar, words = position.series, scan.sections
    if not position.at_end or bar.total != position.total or bar.format == LEARNED:
        return False
    if position.most is not None or any(one.epoch is not None for one in facts.scans):
        return False
    others = [one for each in facts.scans for one in each.table.series.values() if one is not bar]
    if not all(one.aside and one.seen < bar.born for one in others):
        return False
    was_made_ready = words.prepared >= max(1, bar.born - _ABOVE)
    return not (was_made_ready or max(words.started, words.begun) > bar.seen)


def _another_follows(facts: Facts, scan: LogScan, position: RunPosition) -> bool:
    """What has ended is one of several: a trial, a fold, a warm-up."""
    if position.series.preliminary and not scan.declared("finished"):
        return True
    stated = scan.declared("finished") or scan.closed()
    if scan.sections.begun > position.series.seen and not (stated or facts.gone):
        return True
    part = scan.table.whole_runs()
    if part is None:
        return False
    total = part.total or scan.announced.by_unit.get("parts")
    if not total:  # how many there are is unknown, but the first is not the only one
        return not facts.gone and (part.done < 1 or _has_just_begun(scan, part))
    return part.done + 1 < total or _has_just_begun(scan, part)


def _ends_the_run(scan: LogScan) -> bool:
    """Such a sentence was not survived before, or it is of the last of a known number."""
    part = scan.table.whole_runs()
    numbered = part is not None and (part.total or scan.announced.by_unit.get("parts"))
    return scan.stated_end.survived == 0 or bool(numbered)


def _has_just_begun(scan: LogScan, part: Series) -> bool:
    """Nothing was counted below the newest heading, and no last word came after it."""
    newest = scan.table.newest()
    counted = newest is not None and newest.seen > part.moved
    closed = scan.closed() and scan.closing.at > part.moved
    return not (counted or closed or scan.declared("finished"))


def _was_left_at_its_end(scan: LogScan, position: RunPosition) -> bool:
    """Nothing follows the last unit, of which only the beginning or a part may be printed.

    A large one may also have been cut off: then the log has to have a last word.
    """
    if position.fraction is None:
        return scan.parted() or _expected_its_end(scan)
    if not position.at_last_unit:
        return False
    return position.last_unit_is_small or scan.parted() or scan.closed()


def _expected_its_end(scan: LogScan) -> bool:
    """The job's own estimate in its newest count is that nothing is left."""
    newest = scan.table.newest()
    return newest is not None and newest.eta_s == 0


def _nothing_follows(facts: Facts) -> bool:
    return facts.is_quiet() if facts.now is not None else not _just_written(facts)


def _just_written(facts: Facts) -> bool:
    """A last evaluation, or the model that is saved, comes after the last step."""
    return facts.quiet_s is not None and facts.quiet_s < _SETTLED_S


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
_PATTERNS = {pause: lazy_pattern(words, re.IGNORECASE) for pause, words in _WORDS.items()}


def known_pause(scans: Iterable[LogScan]) -> KnownPause | None:
    """What the newest line of one of the logs announced, None where it announced nothing."""
    for scan in scans:
        if scan.pausing:
            return "evaluating" if scan.hint == "evaluating" else "checkpointing"
        for pause, pattern in _PATTERNS.items():
            if pattern.search(scan.newest):
                return pause
    return None

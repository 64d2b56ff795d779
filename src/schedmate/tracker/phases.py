"""What the job is doing."""

from __future__ import annotations

from schedmate.model import Phase
from schedmate.tracker.facts import Facts
from schedmate.tracker.known_pauses import known_pause
from schedmate.tracker.scan import LogScan
from schedmate.tracker.standing import Standing


def phase_of(facts: Facts, scan: LogScan, stand: Standing) -> Phase:
    if _is_failed(facts):
        return "failed"
    if _is_finished(facts, scan, stand):
        return "finished"
    busy: Phase = "training"
    if scan.pausing and scan.hint is not None:
        busy = scan.hint
    patient = busy != "training" or known_pause(facts.scans) is not None
    return "stalled" if facts.is_stalled(patient=patient) else busy


def bare_phase(facts: Facts) -> Phase:
    """Where nothing is counted: what the logs' words tell."""
    if _is_failed(facts):
        return "failed"
    if any(scan.said("finished") for scan in facts.scans):
        return "finished"
    asides = [scan.table.aside(None) for scan in facts.scans]
    said = [one.aside for one in asides if one is not None and one.aside is not None]
    hinted = [scan.hint for scan in facts.scans if scan.hint is not None]
    busy = next(iter(said + hinted), "unknown" if facts.now is None else "starting")
    patient = bool(said or hinted) or known_pause(facts.scans) is not None
    return "stalled" if facts.is_stalled(patient=patient) else busy


def _is_failed(facts: Facts) -> bool:
    return any(scan.ending.failed or scan.said("failed") for scan in facts.scans)


def _is_finished(facts: Facts, scan: LogScan, stand: Standing) -> bool:
    """Said in words, or counted to the end; a doubtful end only once nothing follows it."""
    if scan.said("finished"):
        return True
    aside = scan.table.aside(stand.series)
    if aside is not None and not aside.complete:
        return False
    if stand.complete:
        return True
    nothing_follows = facts.now is None or facts.is_quiet()
    return stand.may_be_complete and nothing_follows

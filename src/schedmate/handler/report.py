"""The diagnosis: summary, evidence lines, blamed nodes and ranks, and the decision."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schedmate.handler.case import signal_name
from schedmate.handler.credibility import credible, denies_node_failure, further_hardware_faults
from schedmate.handler.decision import blamed_nodes, decide
from schedmate.handler.nodes import node_faults, on_local_disk
from schedmate.handler.rules import BUILT_IN, Weight
from schedmate.handler.signature import masked
from schedmate.handler.suggestions import meaning, suggestion
from schedmate.model import REASONS, Blame, Diagnosis, Evidence, JobState
from schedmate.model.nodes import may_be_at_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedmate.handler.case import Case
    from schedmate.handler.reading import Clue, Gathered, LogLine
    from schedmate.handler.rules.base import Pattern
    from schedmate.model.diagnosis import DiagnosisSource, Reporter

_SHOWN_LAST_LINES: Final = 5
_NAMED_RANKS: Final = 4
_TEXT_LENGTH: Final = 400
_LEAD: Final = 100
_SUMMARY_LENGTH: Final = 240


def from_clue(case: Case, gathered: Gathered, clue: Clue) -> Diagnosis:
    """A rule's answer. A verdict without a line shows the last lines of the run."""
    reason = clue.rule.reason
    if clue.line is None:
        summary = f"{meaning(reason)} ({_verdict(case)})"
        lines: tuple[LogLine, ...] = gathered.tail[-_SHOWN_LAST_LINES:]
    else:
        message = _first_line(clue.message) or _cut_off(clue)
        summary = f"{_by(clue.ranks)}{meaning(reason)}: {message}"
        lines = evidence_lines(clue, gathered)
    return _diagnosis(
        case,
        reason,
        summary=summary,
        lines=lines,
        named=() if clue.line is None else (clue.line,),
        ranks=clue.ranks,
        nodes=(*filter(None, (clue.node,)), *_nodes_below(clue)),
        also=further_hardware_faults(clue, credible(case, gathered)),
        reported_by=clue.reported_by,
        confidence=clue.confidence,
        source="none" if reason == "unknown" else "rule",
        advice=clue.rule.suggestion,
        of_a_step=clue.rule.of_a_step,
        recurs=clue.rule.recurs,
        shown_by=clue.rule.pattern,
    )


def from_line(
    case: Case,
    reason: str,
    line: LogLine,
    *,
    words: str,
    confidence: float,
    source: DiagnosisSource,
) -> Diagnosis:
    """The answer of a model or of the memory about one line."""
    return _diagnosis(
        case,
        reason,
        summary=_first_line(words) or meaning(reason),
        lines=(line,),
        named=(line,),
        ranks=() if line.rank is None else (line.rank,),
        confidence=confidence,
        source=source,
        reported_by=case.reporter(line.order),
    )


def unknown(case: Case, gathered: Gathered) -> Diagnosis:
    if not case.failing:
        summary = "there is nothing to go by: no text in the log, no failing state or exit code"
    elif not gathered.lines:
        summary = f"it failed ({_verdict(case)}) and the log is empty"
    else:
        summary = f"it failed ({_verdict(case)}) and nothing in the log says why"
    if gathered.unreadable and not (gathered.refused and case.reader.user):
        summary += f"; not readable: {', '.join(gathered.unreadable[:3])}"
    last = gathered.tail[-_SHOWN_LAST_LINES:] if gathered.readable else ()
    return _diagnosis(case, "unknown", summary=summary, lines=last, confidence=0.2, source="none")


def with_what_was_refused(diagnosis: Diagnosis, case: Case, gathered: Gathered) -> Diagnosis:
    """With a note where logs of a job cannot be read as its owner."""
    if not gathered.refused:
        return diagnosis
    diagnosis = replace(diagnosis, unread_logs=gathered.refused)
    if not case.reader.user:
        return diagnosis
    named = ", ".join(gathered.refused[:3])
    note = f"its log cannot be read as user {case.reader.user}: {named}"
    return replace(diagnosis, summary=f"{diagnosis.summary}; {note}")


def not_failed(case: Case, gathered: Gathered) -> Diagnosis:
    if case.succeeded:
        summary, confidence = f"it ended well ({_verdict(case)})", 0.95
    else:
        summary, confidence = "nothing in the log shows a failure", 0.7
        if case.state in (JobState.PENDING, JobState.RUNNING):
            summary += f" (it is {case.state})"
    last = gathered.tail[-1:]
    return _diagnosis(
        case, "not_failed", summary=summary, lines=last, confidence=confidence, source="rule"
    )


def healthy_by_model(case: Case, *, confidence: float) -> Diagnosis:
    summary = "nothing in the log shows a failure, as a model reads it"
    return _diagnosis(
        case, "not_failed", summary=summary, lines=(), confidence=confidence, source="llm"
    )


def _diagnosis(
    case: Case,
    reason: str,
    *,
    summary: str,
    lines: Iterable[LogLine],
    named: tuple[LogLine, ...] = (),
    ranks: tuple[int, ...] = (),
    nodes: tuple[str, ...] = (),
    also: frozenset[str] = frozenset(),
    confidence: float,
    source: DiagnosisSource,
    reported_by: Reporter = "job",
    advice: str = "",
    of_a_step: bool = False,
    recurs: bool = False,
    shown_by: Pattern | None = None,
) -> Diagnosis:
    denied = reason == "node_failure" and denies_node_failure(case)
    places: tuple[str, ...] = ()
    if source != "llm" and (of_a_step or not denied):
        places = tuple(
            node
            for node in _places(case, named, nodes, or_the_only_one=not denied)
            if may_be_at_fault(node, reason)
        )
    decision = decide(
        reason,
        case,
        blamed=places,
        confidence=confidence,
        also=also,
        local_disk=any(on_local_disk(line.text) for line in named),
        recurs=recurs,
        by_model=source == "llm",
    )
    return Diagnosis(
        reason=reason,
        category=REASONS[reason].category,
        summary=summary[:_SUMMARY_LENGTH],
        evidence=tuple(
            Evidence(line.file, line.number, _shortened(line.text, shown_by)) for line in lines
        ),
        blame=Blame(
            nodes=blamed_nodes(decision, case, places),
            nodes_by=_named_by(case, named, reported_by),
            ranks=ranks,
        ),
        reported_by=reported_by,
        confidence=round(confidence, 3),
        source=source,
        decision=decision,
        suggestion=advice
        or suggestion(reason, case.workload, " ".join(line.text for line in named)),
    )


def _places(
    case: Case, lines: tuple[LogLine, ...], known: tuple[str, ...], *, or_the_only_one: bool
) -> tuple[str, ...]:
    """Nodes of the job at which it happened: the ones its lines name, or its only one.

    A GPU that is a node is also named by its address: `Xid (PCI:0000:3b:00): 79`.
    """
    counts = Counter(host for state in case.node_states for host in state.hosts)
    also_called = {
        state.name: tuple(host for host in state.hosts if counts[host] == 1)
        for state in case.node_states
    }
    named = tuple(
        node
        for node in case.nodes
        if any(_is_host(name, node) for name in known)
        or any(
            _names(line.text, name) for line in lines for name in (node, *also_called.get(node, ()))
        )
    )
    return named or (case.nodes if or_the_only_one and len(case.nodes) == 1 else ())


def _named_by(case: Case, lines: tuple[LogLine, ...], reported_by: Reporter) -> Reporter:
    """The scheduler's own node states go before the lines that name a node."""
    if node_faults(case):
        return "scheduler"
    return case.reporter(lines[0].order) if lines else reported_by


def _names(text: str, node: str) -> bool:
    """Whether the node's name stands in the text as a word of its own (`n1` is not in `n12`)."""
    before, found, after = text.partition(node)
    return bool(found) and not (before[-1:].isalnum() or after[:1].isalnum())


def _shortened(text: str, pattern: Pattern | None) -> str:
    """A long line round what the rule matched in it, else its beginning."""
    found = pattern.search(text) if pattern is not None and len(text) > _TEXT_LENGTH else None
    start = found.start() if isinstance(found, re.Match) else 0
    if start < _TEXT_LENGTH // 2:
        return text[:_TEXT_LENGTH]
    return f"…{text[start - _LEAD :][: _TEXT_LENGTH - 1]}"


def _nodes_below(clue: Clue) -> tuple[str, ...]:
    """The nodes that a launcher names below its own line."""
    pattern = clue.rule.names_node
    if pattern is None:
        return ()
    found = (pattern.search(line.text) for line in clue.below)
    return tuple(match[1] for match in found if match)


def _is_host(name: str, node: str) -> bool:
    """Whether both name one host, with or without its domain."""
    return name == node or name.partition(".")[0] == node or name == node.partition(".")[0]


def _by(ranks: tuple[int, ...]) -> str:
    if len(ranks) > _NAMED_RANKS:
        return f"{len(ranks)} ranks: "
    names = ", ".join(map(str, ranks))
    return f"rank{'s' * (len(ranks) > 1)} {names}: " if ranks else ""


def _cut_off(clue: Clue) -> str:
    calls = " ".join(_first_line(line.text) for line in clue.shown)
    return f"the log ends inside its traceback{f', at {calls}' if calls else ''}"


def _first_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _verdict(case: Case) -> str:
    parts = [
        "hung" if case.hung else "",
        str(case.state) if case.state else "",
        signal_name(case.signal) if case.signal else "",
    ]
    if case.exit_code is not None and not case.signal:
        parts.append(f"exit code {case.exit_code}")
    return ", ".join(part for part in parts if part) or "no verdict"


_MOST: Final = 7
_MORE_OF_MESSAGE: Final = 2


def evidence_lines(clue: Clue, gathered: Gathered) -> tuple[LogLine, ...]:
    """Its line first; no two that differ in numbers and names only."""
    chosen: dict[str, LogLine] = {}
    for line in (*clue.shown, *_candidates(clue, gathered)):
        if len(chosen) < _MOST and line.text.strip():
            chosen.setdefault(masked(line.text), line)
    return tuple(chosen.values())


def _candidates(clue: Clue, gathered: Gathered) -> Iterator[LogLine]:
    yield from clue.announced[:1]
    rest = {part.strip() for part in clue.message.split("\n")[1:]}
    yield from [line for line in clue.below if line.text.strip() in rest][:_MORE_OF_MESSAGE]
    yield from (line for line in clue.below if _shows(clue.rule.reason, line))
    yield from clue.chain[-1:]
    alike = [other for other in gathered.clues if other.rule.reason == clue.rule.reason]
    alike.sort(key=lambda other: other.confidence, reverse=True)
    yield from (other.line for other in alike if other.line is not None)


def _shows(reason: str, line: LogLine) -> bool:
    """Whether a line shows the reason, or a more particular one of the same kind."""
    rule = BUILT_IN.for_line(line.text) or BUILT_IN.for_error(line.text)
    if rule is None:
        return False
    alike = REASONS[rule.reason].category == REASONS[reason].category != "user"
    return rule.reason == reason or (alike and rule.weight is Weight.CAUSE)

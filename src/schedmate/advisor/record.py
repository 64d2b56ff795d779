"""Everything that was stated, merged into one record: cli beats config beats code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schedmate.advisor.frameworks import framework
from schedmate.advisor.launch import Launch, PythonRun
from schedmate.advisor.meanings import Meaningless, in_plain_words, meaning
from schedmate.advisor.readers import READERS, UNSTATED, Reading, Stated
from schedmate.advisor.shell.words import COMMAND_FILE
from schedmate.advisor.sources import evidence
from schedmate.advisor.time_caps import cap_seconds
from schedmate.advisor.vocabulary import field_of
from schedmate.model import Evidence, Finding, Request, Source, Workload

_STRENGTH: dict[Source, int] = {"cli": 3, "script": 3, "config": 2, "code": 1}
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class _Candidate:
    field: str
    value: Any
    stated: Stated
    alias: int

    @property
    def strength(self) -> tuple[int, int, float, int]:
        stated = self.stated
        return _STRENGTH[stated.source], -stated.depth, stated.confidence, -self.alias


def read_workload(launch: Launch, reading: Reading, request: Request) -> Workload:
    findings: dict[str, Finding[Any]] = {}
    findings |= _merged([stated for reader in READERS for stated in reader.read(reading)])
    findings |= _asked(launch, request)
    library = framework(reading.modules)
    if library is not None:
        findings["framework"] = library
    if launch.main is not None:
        findings |= _started(launch.main)
        findings |= _killed_after(launch.main, findings.get("max_time_s"))
    return Workload(**findings)


def _merged(statements: Sequence[Stated]) -> dict[str, Finding[Any]]:
    by_field: dict[str, list[_Candidate]] = {}
    for stated in statements:
        for candidate in _candidates(stated):
            by_field.setdefault(candidate.field, []).append(candidate)
    chosen = {field: _choose(candidates) for field, candidates in by_field.items()}
    return {field: finding for field, finding in chosen.items() if finding is not None}


def _candidates(stated: Stated) -> Iterator[_Candidate]:
    name, said = in_plain_words(stated.name, stated.value)
    found = field_of(name)
    if found is None:
        return
    field, alias = found
    value = UNSTATED
    if said is not UNSTATED:
        try:
            value = meaning(field, name, said)
        except Meaningless:
            value = _NOTHING
    yield _Candidate(field, value, stated, alias)


def _choose(candidates: list[_Candidate]) -> Finding[Any] | None:
    """The strongest; nothing where it is unreadable or two equally strong ones disagree."""
    candidates = _meaningful(candidates)
    if not candidates:
        return None
    best = max(candidates, key=lambda each: each.strength)
    equals = [each for each in candidates if each.strength == best.strength]
    if best.value is UNSTATED or any(each.value != best.value for each in equals):
        return None
    return Finding(
        value=best.value,
        source=best.stated.source,
        evidence=best.stated.evidence,
        confidence=best.stated.confidence,
    )


def _meaningful(candidates: list[_Candidate]) -> list[_Candidate]:
    """Without the names whose strongest value says nothing: `--max_steps -1` is no length."""
    strongest: dict[int, _Candidate] = {}
    for each in candidates:
        known = strongest.get(each.alias)
        if known is None or each.strength > known.strength:
            strongest[each.alias] = each
    return [each for each in candidates if strongest[each.alias].value is not _NOTHING]


def _asked(launch: Launch, request: Request) -> dict[str, Finding[Any]]:
    """What the job asks for: the submit command's flags beat the script's directives."""
    findings: dict[str, Finding[Any]] = {}
    gpus = launch.asked.gpus
    if request.gpus:
        findings["gpus"] = _requested("gpus", request.gpus)
    elif gpus is not None:
        source: Source = "script" if len(gpus[1]) == 1 else "derived"
        findings["gpus"] = Finding(value=gpus[0], source=source, evidence=gpus[1], confidence=0.99)
    nodes = launch.asked.nodes
    if request.nodes > 1:
        findings["nodes"] = _requested("nodes", request.nodes)
    elif nodes is not None:
        lines = (launch.asked.options["nodes"][1],)
        findings["nodes"] = Finding(value=nodes, source="script", evidence=lines, confidence=0.99)
    return findings


def _requested(name: str, value: int) -> Finding[int]:
    return Finding(
        value=value, source="cli", evidence=(evidence("<request>", 1, f"{name}={value}"),)
    )


def _killed_after(run: PythonRun, own: Finding[float] | None) -> dict[str, Finding[Any]]:
    """`timeout 2h python …`, unless the program ends itself before."""
    word = run.killed_after
    seconds = cap_seconds(word.text, 1.0) if word is not None and word.known else None
    if word is None or seconds is None or (own is not None and own.value <= seconds):
        return {}
    source = _source(word.evidence)
    return {"max_time_s": Finding(value=seconds, source=source, evidence=word.evidence)}


def _source(lines: Sequence[Evidence]) -> Source:
    return "cli" if all(line.file == COMMAND_FILE for line in lines) else "script"


def _started(run: PythonRun) -> dict[str, Finding[Any]]:
    lines = run.command.evidence
    source = _source(lines)
    findings: dict[str, Finding[Any]] = {
        "entry_point": Finding(value=run.entry.name, source=source, evidence=lines)
    }
    if run.log_files:
        findings["log_files"] = Finding(
            value=tuple(word.text for word in run.log_files),
            source=source,
            evidence=tuple(line for word in run.log_files for line in word.evidence),
        )
    return findings

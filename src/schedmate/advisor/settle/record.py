"""The workload record: what the job's code, configs, scripts and request state, settled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.shell.words import source_of
from schedmate.advisor.launch.run import Launch, PythonRun
from schedmate.advisor.settle.changed_models import changes_shape
from schedmate.advisor.settle.claim import Claim
from schedmate.advisor.settle.derivation import derived
from schedmate.advisor.settle.naming import named_claims
from schedmate.advisor.settle.settling import settle
from schedmate.advisor.settle.time_caps import cap_seconds
from schedmate.advisor.sources.files import SourceFile, evidence
from schedmate.model import Evidence, Finding, Request, Source, Workload

_WHEN_STARTED = re.compile(r"if __name__ ?==")
_CALL = re.compile(r"\s{1,8}(?:\w{1,40} = )?(\w{1,60})\(")
_FUNCTION = re.compile(r"(?:async )?def (\w{1,60})\(")
_STATEMENT = re.compile(r"[A-Za-z_@]")


def record_of(
    launch: Launch,
    run: PythonRun | None,
    request: Request,
    trace: Trace,
    claims: Iterable[Claim],
    *,
    root: str = "",
) -> Workload:
    """`run` is the one that the job is about, `root` the job's directory: the same code elsewhere
    states the same places below it."""
    findings = settle(_seen_from(root, each) for each in (*claims, *named_claims(trace)))
    findings |= _asked(launch, request)
    if run is not None:
        findings |= _started(run)
        findings |= _killed_after(run, findings.get("max_time_s"))
    implied = settle(derived(findings, changed=changes_shape(trace)))
    return Workload(**(implied | findings))


def _seen_from(root: str, claim: Claim) -> Claim:
    path = claim.value.data
    if not root or not isinstance(path, str) or not path.startswith(root):
        return claim
    return replace(claim, value=replace(claim.value, data=path.removeprefix(root)))


def _asked(launch: Launch, request: Request) -> dict[str, Finding[Any]]:
    """What the job asks for: the submit command's flags beat the script's directives."""
    findings: dict[str, Finding[Any]] = {}
    gpus = launch.asked.gpus
    if request.gpus or request.no_gpus:
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
    source = source_of(word.evidence)
    return {"max_time_s": Finding(value=seconds, source=source, evidence=word.evidence)}


def _beginning(source: SourceFile | None) -> tuple[Evidence, ...]:
    """Where a program begins: what it does when it is started, else its first statement."""
    if source is None or source.path is None:
        return ()
    lines = list(enumerate(source.text.splitlines(), 1))
    started = [(number, text) for number, text in lines if _WHEN_STARTED.match(text)][:1]
    called = {found[1] for number, _ in started for found in _called(lines[number : number + 10])}
    starts = [(at, text) for at, text in lines if _defined(text) in called]
    first = [(number, text) for number, text in lines if _STATEMENT.match(text)][:1]
    shown = [*started, *starts[:1]] or first
    return tuple(evidence(source.name, number, text) for number, text in shown)


def _called(lines: Iterable[tuple[int, str]]) -> Iterator[re.Match[str]]:
    return (found for _, text in lines for found in [_CALL.match(text)] if found is not None)


def _defined(text: str) -> str:
    found = _FUNCTION.match(text)
    return "" if found is None else found[1]


def _started(run: PythonRun) -> dict[str, Finding[Any]]:
    lines = run.command.evidence
    source = source_of(lines)
    findings: dict[str, Finding[Any]] = {
        "entry_point": Finding(
            value=run.entry.name, source=source, evidence=(*lines, *_beginning(run.entry.source))
        )
    }
    if run.log_files:
        findings["log_files"] = Finding(
            value=tuple(word.text for word in run.log_files),
            source=source,
            evidence=tuple(line for word in run.log_files for line in word.evidence),
        )
    return findings

"""The slice of a job: launch, settings, telling lines of code, and the record so far."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final

from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Option
from schedmate.advisor.interpret.python.values import UNKNOWN_DATA, Value
from schedmate.advisor.launch.run import PythonRun
from schedmate.advisor.slice.code_lines import is_settings, shown_lines
from schedmate.advisor.sources.files import SourceFile
from schedmate.advisor.understand.read_job import ReadJob
from schedmate.model import Evidence, Finding, Workload
from schedmate.model.redaction import redact

MOST_CHARACTERS: Final = 18_000
_OF_A_SCRIPT: Final = 4000
_OF_THE_ENTRY: Final = 6000
_OF_ANOTHER: Final = 2500
_OF_SETTINGS: Final = 4500
_MOST_FILES: Final = 9
_MOST_NAMED: Final = 50
_MOST_WALKED: Final = 400
_LONGEST_VALUE: Final = 70
_MOST_NOTED: Final = 4
_SHORTEST_NAME: Final = 5
_SWITCH: Final = re.compile(r"resume|ckpt|checkpoint|save|load|amp|fp16|bf16|half|dist|ddp|fsdp")
"""Options that tell something even where they are off."""
FIELDS: Final = tuple(each.name for each in fields(Workload))


def slice_of(job: ReadJob, command: Iterable[str], only: Collection[str] = FIELDS) -> str:
    """About these fields; the same job always gives the same text."""
    sources = _sources(job)
    whole = {each.name for each in sources if is_settings(each) and len(each.text) < _OF_ANOTHER}
    parts = (
        ("COMMAND", " ".join(command)),
        ("LAUNCH", "\n".join(_launch(job))),
        ("RECORD so far", "\n".join(_record(job.workload, only))),
        (
            "SETTINGS as the program sees them (file, then line: name = value)",
            _settings(job, whole),
        ),
        ("OTHER FILES", _others(job, sources)),
        ("LINES", _code(job, sources)),
    )
    text = "\n\n".join(f"# {title}\n{body}" for title, body in parts if body)
    return clean(text)[:MOST_CHARACTERS]


def used_names(job: ReadJob) -> Iterator[str]:
    yield from (source.name for source in job.sources())
    if job.run is not None and job.run.entry.source is not None:
        yield job.run.entry.source.name


def is_named(file: str, job: ReadJob, command: Iterable[str]) -> bool:
    """Whether the command, a script, the entry point or a config of the job names this file."""
    name = PurePosixPath(file).name
    entry = None if job.run is None else job.run.entry.source
    texts = (source.text for source in (*job.settings(), *((entry,) if entry else ())))
    return len(name) > _SHORTEST_NAME and any(name in text for text in (*command, *texts))


def clean(text: str) -> str:
    """Without secrets and the marks by which models tell roles apart."""
    return redact(text).replace("<|", "< ").replace("|>", " >")


def _launch(job: ReadJob) -> Iterator[str]:
    launch, main = job.launch, job.run or job.launch.main
    asked = [f"{name}={text}" for name, (text, _) in sorted(launch.asked.options.items())]
    if asked:
        yield f"asked of the scheduler: {', '.join(asked)[:400]}"
    if main is not None:
        yield f"runs: {_command(main)}"
        total, per_node = job.processes.total, job.processes.per_node
        if total is not None:
            by_node = "" if per_node is None else f", {per_node.number} a node"
            yield f"processes: {total.number}{by_node}"
        if launch.certainty < 1:
            yield "it is not certain that this is what runs"
    others = [run for run in launch.runs if run != main]
    yield from (f"also starts: {_command(run)}" for run in others[:4])
    yield from (
        f"not known what this starts: {' '.join(word.text for word in words)[:160]}"
        for words in launch.lost[:4]
    )
    yield from (f"missing script: {word.text[:120]}" for word in launch.missing_scripts[:4])


def _command(run: PythonRun) -> str:
    chain = " > ".join((*(each.name for each in run.launched), run.entry.name))
    words = " ".join(word.text if word.known else f"{word.text}(unknown)" for word in run.arguments)
    missing = " (no such file)" if run.entry.missing else ""
    return f"{chain}{missing} {words}"[:700]


def _settings(job: ReadJob, shown: Collection[str]) -> str:
    """By file; what a command line or config sets before what is left at its default."""
    rows: dict[str, list[str]] = {}
    options = {option.name: option for option in job.trace.options}.values()
    for option in sorted(options, key=lambda each: each.value.source == "code"):
        value = _plain(option.value)
        if value is None or not option.value.lines or _says_nothing(option, shown):
            continue
        at = option.value.lines[0]
        unused = " (never looked up)" if at in job.trace.unused else ""
        rows.setdefault(at.file, []).append(f"{at.line}: {option.name} = {value}{unused}")
    text, left = [], _OF_SETTINGS
    for file, lines in rows.items():
        text.append(f"[{file}]")
        for line in lines:
            left -= len(line) + 1
            if left > 0:
                text.append(line)
    return "\n".join(text)


def _says_nothing(option: Option, shown: Collection[str]) -> bool:
    """A switch that is left off, or a value that is read where it stands."""
    value, at = option.value, option.value.lines[0]
    if value.source == "code" and value.known and not value.data:
        return _SWITCH.search(option.name) is None
    return at.file in shown and str(value.data) in at.text


def _plain(value: Value) -> str | None:
    if value.data is UNKNOWN_DATA:
        return "?"
    if value.plain:
        return repr(value.data)[:_LONGEST_VALUE]
    return None


def _sources(job: ReadJob) -> list[SourceFile]:
    """Scripts, then the entry point, then configs, then code by how much of it runs."""
    found = {source.name: source for source in job.sources()}
    entry = None if job.run is None else job.run.entry.source
    if entry is not None and entry.path is not None:
        found.setdefault(entry.name, entry)
    scripts = {source.name for source in job.launch.scripts}
    reached: dict[str, int] = {}
    for call in job.trace.calls:
        if call.reached >= Reached.UNDECIDED:
            reached[call.line.file] = reached.get(call.line.file, 0) + 1
    stated = {line.file for line in _lines_of_record(job.workload)}

    def rank(source: SourceFile) -> tuple[bool, bool, bool, bool, int, str]:
        return (
            source.name not in scripts,
            entry is None or source.name != entry.name,
            source.name not in stated,
            not is_settings(source),
            -reached.get(source.name, 0),
            source.name,
        )

    wanted = (
        each
        for each in found.values()
        if not each.name.endswith(".py")
        or each.name in reached
        or each.name in stated
        or each is entry
        or is_settings(each)
    )
    return sorted(wanted, key=rank)


def _lines_of_record(workload: Workload) -> Iterator[Evidence]:
    for name in FIELDS:
        finding: Finding[Any] | None = getattr(workload, name)
        if finding is not None:
            yield from finding.evidence[:3]


def _code(job: ReadJob, sources: list[SourceFile]) -> str:
    scripts = {source.name for source in job.launch.scripts}
    entry = "" if job.run is None else job.run.entry.name
    marked: dict[str, set[int]] = {}
    for line in _lines_of_record(job.workload):
        marked.setdefault(line.file, set()).add(line.line)
    notes = _notes(job)
    parts = []
    for source in sources[:_MOST_FILES]:
        room = _OF_ANOTHER
        if source.name in scripts:
            room = _OF_A_SCRIPT
        elif source.name == entry:
            room = _OF_THE_ENTRY
        shown = shown_lines(
            source, marked.get(source.name, set()), notes.get(source.name, {}), room
        )
        if shown:
            parts.append(f"[{source.name}, {len(source.lines())} lines]\n{shown}")
    return "\n".join(parts)


def _notes(job: ReadJob) -> dict[str, dict[int, list[str]]]:
    """What the arguments of library calls and the bounds of loops are, by file and line."""
    notes: dict[str, dict[int, list[str]]] = {}
    for call in job.trace.calls:
        known = [
            f"{name}={value.data!r}"[:_LONGEST_VALUE]
            for name, value in call.keywords.items()
            if value.plain and value.data is not None
        ]
        if known and call.reached >= Reached.UNDECIDED:
            notes.setdefault(call.line.file, {}).setdefault(call.line.line, known[:_MOST_NOTED])
    for loop in job.trace.loops:
        if loop.bound is not None and loop.bound.plain:
            bound = f"{loop.variable}<{loop.bound.data!r}"
            notes.setdefault(loop.line.file, {}).setdefault(loop.line.line, [bound])
    return notes


def _others(job: ReadJob, sources: list[SourceFile]) -> str:
    """Names of files that may be read: what else is used, then what lies about."""
    shown = {source.name for source in sources[:_MOST_FILES]}
    used = [source.name for source in job.sources() if source.name not in shown]
    below = islice(job.files.directories.files_below(str(job.files.workdir)), _MOST_WALKED)
    near = [
        name
        for name in below
        if name.endswith((".py", ".yaml", ".yml", ".json", ".toml", ".sh", ".cfg", ".gin"))
        and not name.startswith(".")
        and name not in shown
        and name not in used
    ]
    named = [*dict.fromkeys(used)][:_MOST_NAMED]
    about = near[: max(0, _MOST_NAMED - len(named))]
    lines = [f"used: {' '.join(named)}"] if named else []
    return "\n".join([*lines, *([f"about: {' '.join(about)}"] if about else [])])


def _record(workload: Workload, only: Collection[str]) -> Iterator[str]:
    known = [name for name in FIELDS if getattr(workload, name) is not None]
    for name in known:
        finding: Finding[Any] = getattr(workload, name)
        at = f" {finding.evidence[0].file}:{finding.evidence[0].line}" if finding.evidence else ""
        settled = "" if name in only else ", settled"
        value = str(finding.value)[:120]
        yield f"{name} = {value} ({finding.confidence:.2g}, {finding.source}{at}{settled})"
    left = [name for name in FIELDS if name not in known and name in only]
    if left:
        yield f"open: {', '.join(left)}"

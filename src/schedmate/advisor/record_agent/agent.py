"""Asks a model that reads for a diff of a job's record, checks it, and keeps what holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from schedmate.advisor.record_agent.applying import apply_changes, differing
from schedmate.advisor.record_agent.checking import COMMAND, Checked, QuoteChecker
from schedmate.advisor.record_agent.diff import MAX_TOKENS, PURPOSE, SYSTEM, RecordDiff
from schedmate.advisor.record_agent.keeping import (
    VERSION,
    Fact,
    KeptAnswer,
    KeptChange,
    LinesOf,
    Notebook,
    content_of,
    places_of,
    still_holding,
)
from schedmate.advisor.slice.slicing import FIELDS, clean, is_named, slice_of, used_names
from schedmate.advisor.sources.files import Files
from schedmate.advisor.understand.read_job import Read, ReadJob
from schedmate.agents import Bounds, DirectoryDesk, read_on
from schedmate.model import Asker, Cost, ModelError, ReadingCache, Remark, Subject
from schedmate.model.legible import legible
from schedmate.model.redaction import redact

TURNS: Final = 4
_CHARACTERS: Final = 16_000
_LONGEST_SENTENCE: Final = 300


@dataclass(slots=True)
class RecordAgent:
    """For one job. `command` is what is started, `turns` how often the model may reply; without
    `votes` no second sample is asked for. `also_read` are the files that it goes by."""

    asker: Asker
    cache: ReadingCache
    command: Sequence[str]
    about: Subject
    turns: int = TURNS
    votes: bool = True
    problem: ModelError | None = None
    cost: Cost = field(default_factory=Cost)
    also_read: set[str] = field(default_factory=set)

    @property
    def kind(self) -> str:
        return f"read {VERSION}"

    def complete(self, job: ReadJob, read: Read) -> ReadJob:  # noqa: ARG002 - it reads by itself
        """With the record, the summary and the remarks that hold."""
        lines_of = _lines_opener(job, self.command)
        notebook = _notebook(job, self.cache, self.about.user)
        kept = notebook.answer()
        said, only = _Said(), list(FIELDS)
        if kept is not None:
            changes, only, agreed = still_holding(
                kept, job.workload, lines_of, _users(job, self.command)
            )
            said = _Said(changes, agreed, kept.summary, kept.remarks)
        if only:
            try:
                said = said.extended(self._ask(job, only, notebook, lines_of))
            except ModelError as error:
                self.problem = error
            else:
                notebook.keep_answer(said.kept(places_of(job.workload)))
        self.also_read |= {line.file for each in said.changes for line in each.evidence}
        self.also_read -= {COMMAND}
        workload = apply_changes(job.workload, said.changes, said.agreed)
        return replace(job, workload=workload, summary=said.summary, remarks=said.remarks)

    def _ask(
        self, job: ReadJob, only: Sequence[str], notebook: Notebook, lines_of: LinesOf
    ) -> _Said:
        desk = desk_of(job.files, _CHARACTERS)
        asked = _prompt(slice_of(job, self.command, only), only, notebook.facts(lines_of))
        diff = self._sample(asked, desk, self.turns)
        checker = QuoteChecker(lines_of, _users(job, self.command))
        changes = differing(job.workload, _checked(diff, checker, only))
        agreed: set[str] = set()
        doubtful = [each for each in changes if not each.in_use]
        if doubtful and self.votes:
            agreed = self._agreed(asked, desk, checker, doubtful)
        notebook.keep_facts(list(_facts(diff, checker, lines_of)), lines_of)
        return _Said(changes, agreed, _sentence(diff.summary), tuple(_remarks(diff, checker)))

    def _sample(self, prompt: str, desk: DirectoryDesk, turns: int) -> RecordDiff:
        talk = read_on(
            self.asker,
            RecordDiff,
            prompt,
            desk=desk,
            purpose=PURPOSE,
            system=SYSTEM,
            bounds=Bounds(turns=turns, max_tokens=MAX_TOKENS),
            about=self.about,
        )
        self.cost += talk.answer.cost
        self.also_read |= {
            step.argument.partition(":")[0] for step in talk.steps if step.step == "read"
        }
        return talk.answer.value

    def _agreed(
        self, prompt: str, desk: DirectoryDesk, checker: QuoteChecker, doubtful: Sequence[Checked]
    ) -> set[str]:
        """Fields for which a second sample has the same value: no file in use states it."""
        names = [each.field for each in doubtful]
        files = dict.fromkeys(line.file for each in doubtful for line in each.evidence)
        again = (
            f"{prompt}\n\nOnly these fields are asked about: {', '.join(names)}. "
            f"Files to look at: {' '.join(files)}"
        )
        second = _checked(self._sample(again, desk, 2), checker, names)
        same = {each.field: each.value for each in second}
        return {
            each.field for each in doubtful if each.field in same and same[each.field] == each.value
        }


@dataclass(frozen=True, slots=True)
class _Said:
    changes: Sequence[Checked] = ()
    agreed: set[str] = field(default_factory=set)
    summary: str = ""
    remarks: tuple[Remark, ...] = ()

    def extended(self, new: _Said) -> _Said:
        changes, agreed = [*self.changes, *new.changes], self.agreed | new.agreed
        return _Said(changes, agreed, new.summary or self.summary, new.remarks)

    def kept(self, places: dict[str, str]) -> KeptAnswer:
        changes = tuple(
            KeptChange(
                field=each.field,
                value=each.value,
                evidence=each.evidence,
                agreed=each.field in self.agreed,
            )
            for each in self.changes
        )
        return KeptAnswer(
            changes=changes, places=places, summary=self.summary, remarks=self.remarks
        )


def _prompt(view: str, only: Sequence[str], facts: Sequence[Fact]) -> str:
    known = "\n".join(f"{fact.subject} {fact.kind} {fact.object}" for fact in facts)
    parts = [view, f"# KNOWN of this repository\n{clean(known)}" if known else ""]
    if len(only) < len(FIELDS):
        parts.append(f"Only these fields are asked about: {', '.join(only)}.")
    return "\n\n".join(part for part in parts if part)


def _checked(diff: RecordDiff, checker: QuoteChecker, only: Sequence[str]) -> list[Checked]:
    """The first change of each field that is stated where it says."""
    found: dict[str, Checked] = {}
    for change in diff.changes:
        checked = checker.check(change) if change.field in only else None
        if checked is not None:
            found.setdefault(checked.field, checked)
    return list(found.values())


def _remarks(diff: RecordDiff, checker: QuoteChecker) -> Iterator[Remark]:
    """Never certain: no job is held by what a model says."""
    for said in diff.remarks:
        line, text = checker.find(said.quote), _sentence(said.text)
        if line is not None and text:
            yield Remark(level="warning", text=text, evidence=(line.at,), by_model=True)


def _facts(diff: RecordDiff, checker: QuoteChecker, lines_of: LinesOf) -> Iterator[Fact]:
    for said in diff.facts:
        line = checker.find(said.quote)
        names = _sentence(said.subject), _sentence(said.object)
        if line is not None and all(names):
            yield Fact(
                kind=said.kind,
                subject=names[0],
                object=names[1],
                at=line.at,
                content=content_of(line.at.file, lines_of),
            )


def _sentence(text: str) -> str:
    return legible(redact(" ".join(text.split())))[:_LONGEST_SENTENCE]


def _lines_opener(job: ReadJob, command: Sequence[str]) -> LinesOf:
    """A file as its owner may read it; a script as it was submitted."""
    given = {source.name: source.lines() for source in job.launch.scripts}
    given[COMMAND] = [" ".join(command)]
    files = replace(job.files, seen={})

    def lines_of(name: str) -> Sequence[str] | None:
        if name not in given:
            path = Path(os.path.normpath(files.workdir / name))
            source = files.read(path, inside=files.roots)
            if source is None:
                return None
            given[name] = source.lines()
        return given[name]

    return lines_of


def desk_of(files: Files, characters: int) -> DirectoryDesk:
    """The job's directory, and the project that it is part of."""
    workdir, outer = str(files.workdir), str(files.roots[-1])
    around = outer if workdir.startswith(f"{outer}/") else ""
    return DirectoryDesk(workdir, files.reader, characters_left=characters, around=around)


def _users(job: ReadJob, command: Sequence[str]) -> Callable[[str], bool]:
    used = frozenset(used_names(job))
    return lambda name: name in used or is_named(name, job, command)


def _notebook(job: ReadJob, cache: ReadingCache, user: str) -> Notebook:
    entry = "" if job.run is None else job.run.entry.name
    scripts = (source.name for source in job.launch.scripts)
    program = (str(job.files.workdir), entry, *scripts)
    return Notebook(cache, user, program, str(job.files.roots[-1]))

"""What a model said of a job, kept by program; an edit asks again only about what it touched.

The whole record is found again by the content of all files that were read
(`understand/cache.py`). This is for when they have changed: a value whose quote still stands
holds, and so does one that the reader reads from the same place as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from schedmate.advisor.record_agent.applying import differing
from schedmate.advisor.record_agent.checking import COMMAND, Checked
from schedmate.advisor.slice.slicing import FIELDS
from schedmate.advisor.sources.files import digest
from schedmate.agents import found_at
from schedmate.model import BadInput, Evidence, Finding, ReadingCache, Remark, Workload
from schedmate.model.wire import dumps, loads

VERSION: Final = "1"
"""Raised whenever a model is asked something else."""
_MOST_FACTS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptChange:
    field: str
    value: str | int | float | bool | tuple[str, ...] | None
    evidence: tuple[Evidence, ...]
    agreed: bool
    """Two samples said so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """`places` is where the reader had each value from that the model let stand."""

    changes: tuple[KeptChange, ...] = ()
    places: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """`file` states it in a line, and holds as long as it has this `content`."""

    kind: str
    subject: str
    object: str
    at: Evidence
    content: str


@dataclass(frozen=True, slots=True)
class KeptFacts:
    facts: tuple[Fact, ...] = ()


LinesOf = Callable[[str], Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Notebook:
    """Of one user: `program` is what is started and where, `repository` the project around it."""

    cache: ReadingCache
    user: str
    program: tuple[str, ...]
    repository: str

    def answer(self) -> KeptAnswer | None:
        kept: KeptAnswer | None = self._load(KeptAnswer, self._answer_key)
        return kept

    def keep_answer(self, answer: KeptAnswer) -> None:
        self.cache.cache_reading(self._answer_key, dumps(answer))

    def facts(self, lines_of: LinesOf) -> list[Fact]:
        """Those whose file is as it was."""
        kept = self._load(KeptFacts, self._facts_key) or KeptFacts()
        return [fact for fact in kept.facts if content_of(fact.at.file, lines_of) == fact.content]

    def keep_facts(self, new: Sequence[Fact], lines_of: LinesOf) -> None:
        both = {(fact.kind, fact.subject): fact for fact in (*self.facts(lines_of), *new)}
        if new:
            kept = KeptFacts(tuple(both.values())[-_MOST_FACTS:])
            self.cache.cache_reading(self._facts_key, dumps(kept))

    @property
    def _answer_key(self) -> str:
        return digest("record agent", VERSION, self.user, *self.program)

    @property
    def _facts_key(self) -> str:
        return digest("facts", VERSION, self.user, self.repository)

    def _load(self, kind: type[Any], key: str) -> Any:
        text = self.cache.cached_reading(key)
        try:
            return None if text is None else loads(kind, text)
        except BadInput:  # of another version
            return None


def content_of(name: str, lines_of: LinesOf) -> str:
    lines = lines_of(name)
    return "" if lines is None else digest(*lines)


def places_of(workload: Workload) -> dict[str, str]:
    """Where the reader has each value from: the file and kind of source, not the line."""
    places = {}
    for name in FIELDS:
        finding: Finding[Any] | None = getattr(workload, name)
        file = "" if finding is None or not finding.evidence else finding.evidence[0].file
        places[name] = "" if finding is None else f"{finding.source} {file}"
    return places


def still_holding(
    kept: KeptAnswer, workload: Workload, lines_of: LinesOf, is_used: Callable[[str], bool]
) -> tuple[list[Checked], list[str], set[str]]:
    """Changes that hold on, fields to be asked about again, and fields that two samples agreed on.

    A field is asked about again where a quote of its is gone, or where the reader now has its
    value from elsewhere.
    """
    now = places_of(workload)
    again = {name for name, place in now.items() if place != kept.places.get(name, "")}
    holding, agreed = [], set()
    for change in kept.changes:
        lines = [_again(line, lines_of) for line in change.evidence]
        if change.field in again or None in lines:
            again.add(change.field)
            continue
        found = tuple(line for line in lines if line is not None)
        in_use = any(line.file == COMMAND or is_used(line.file) for line in found)
        holding.append(Checked(change.field, change.value, found, in_use))
        if change.agreed:
            agreed.add(change.field)
    return differing(workload, holding), [name for name in FIELDS if name in again], agreed


def _again(line: Evidence, lines_of: LinesOf) -> Evidence | None:
    lines = lines_of(line.file)
    number = None if lines is None else found_at(line.text, lines, line.line)
    return None if number is None else Evidence(line.file, number, line.text)

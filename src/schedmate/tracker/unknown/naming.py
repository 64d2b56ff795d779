"""A language model is asked once what behaviour leaves open: which number is the count?

It can only pick from the numbers of the last line it is shown, and its choice must behave like a
count in all lines. Support by the model alone never gives more than a confidence of 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from schedmate.model import Answer, Asker, LearnedPattern, Subject
from schedmate.tracker.unknown import words
from schedmate.tracker.unknown.behaviour import (
    CERTAIN,
    Meaning,
    elapsed_column,
    epoch_columns,
    metric_columns,
)
from schedmate.tracker.unknown.fields import Column, Table
from schedmate.tracker.unknown.pattern import pattern_of
from schedmate.tracker.unknown.totals import belongs_to_another

if TYPE_CHECKING:
    from schedmate.tracker.unknown.roles import Roles


PURPOSE: Final = "name_progress"
MAX_TOKENS: Final = 48
NONE: Final = "none"
_LINES: Final = 3
_WIDTH: Final = 160
_MAX_CHOICES: Final = 6

SYSTEM: Final = (
    "You read lines of a running program's log. In the last line, pick the number that counts the "
    "work done (step, iteration, sample), and the number that it will reach at the end. Sizes, "
    "seeds, numbers of devices, ids and times are neither: say none.\nExamples:\n"
    "k=30 of n 900 q 0.5\nk=40 of n 900 q 0.4\n"
    '{"done": "40", "total": "900"}\n'
    "phase 7 width 512 err 0.91\nphase 8 width 512 err 0.87\n"
    '{"done": "8", "total": "none"}\n'
    "conn 1200 port 8080 ok\nconn 1201 port 8080 ok\n"
    '{"done": "none", "total": "none"}'
)


@dataclass(frozen=True)
class Question:
    template: int
    table: Table
    meaning: Meaning
    counts: dict[str, int]
    totals: dict[str, int]

    @property
    def schema(self) -> type[Roles]:
        from schedmate.tracker.unknown.roles import roles_among  # noqa: PLC0415 - pydantic is slow

        return roles_among((*self.counts, NONE), (*self.totals, NONE))

    @property
    def prompt(self) -> str:
        texts = self.table.texts
        shown = (texts[0], texts[len(texts) // 2], texts[-1])[-_LINES:]
        return "\n".join(text[:_WIDTH].strip() for text in shown)


def question(template: int, table: Table, meaning: Meaning) -> Question | None:
    """Ask only where a total is open: of a bare counter a small model thinks too well."""
    counts = _shown([table.columns[index] for index in meaning.candidates])
    taken = meaning.roles.get("current")
    constants = [c for c in table.numbers if c.index != taken and _may_be_total(table, c, meaning)]
    if taken is not None:
        count = table.columns[taken]
        constants = [c for c in constants if not belongs_to_another(table, count, c)]
        constants = [c for c in constants if c.before or c.index > taken]
    totals = _shown(constants)
    settled = meaning.confidence > CERTAIN and meaning.has_total
    if settled or not counts or not totals:
        return None
    return Question(template, table, meaning, counts, totals)


def settle(question: Question, answer: Roles) -> LearnedPattern | None:
    """The pattern by the model's choice, where the lines bear it out."""
    current, total = question.counts.get(answer.done), question.totals.get(answer.total)
    if current is None:
        return None
    table, count = question.table, question.table.columns[current]
    if total is not None and table.columns[total].values[0] < max(count.values):
        total = None
    known = question.meaning
    if total is None and known.roles.get("current") == current:
        return None
    roles = {"current": current} | ({} if total is None else {"total": total})
    roles |= epoch_columns(table, roles)
    roles |= elapsed_column(table, roles)
    roles |= metric_columns(table, roles)
    meaning = Meaning(
        roles=roles,
        unit=words.unit_of(count.before, count.suffix, count.after),
        confidence=CERTAIN,
    )
    if total is not None and known.roles.get("total") == total and known.confidence > CERTAIN:
        meaning = replace(meaning, confidence=known.confidence)
    return pattern_of(table, meaning, "llm")


def _may_be_total(table: Table, column: Column, meaning: Meaning) -> bool:
    if not column.trend.constant or column.values[0] <= 1:
        return False
    least = min((max(table.columns[index].values) for index in meaning.candidates), default=0.0)
    return column.values[0] >= least and not column.named(words.NO_TOTAL)


def _shown(columns: list[Column]) -> dict[str, int]:
    shown: dict[str, int] = {}
    for column in columns[:_MAX_CHOICES]:
        shown.setdefault(column.texts[-1], column.index)
    return shown


def ask(question: Question, asker: Asker, about: Subject | None = None) -> Answer[Roles]:
    return asker.ask(
        question.schema,
        question.prompt,
        purpose=PURPOSE,
        system=SYSTEM,
        max_tokens=MAX_TOKENS,
        about=about,
    )

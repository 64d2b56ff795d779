"""Asks a reading model about a failure; lets it read the job's files where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from schedmate.agents import Bounds, DirectoryDesk, found_at, read_on
from schedmate.handler.opinion_question import (
    MAX_TOKENS,
    MEANINGS,
    PURPOSE,
    SCHEMA,
    SYSTEM,
    question,
)
from schedmate.handler.opinion_view import failure_view
from schedmate.model import Evidence
from schedmate.model.redaction import redact

__all__ = ["MEANINGS", "ReadFailure", "read_failure"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.agents import Quote
    from schedmate.handler.case import Case
    from schedmate.handler.learning.similar import Example
    from schedmate.handler.opinion_question import ModelFinding
    from schedmate.handler.opinion_view import FailureView
    from schedmate.handler.reading import Gathered, LogLine
    from schedmate.model import Answer, Asker

_TURNS: Final = 3
_MOST_READ: Final = 12_000
_WIDTH: Final = 200


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """The answer, and what of it is to be found where it says it is."""

    answer: Answer[ModelFinding]
    lines: tuple[LogLine, ...] = ()
    """Lines of the logs that it quoted to the letter."""
    code: Evidence | None = None
    """The line of the job's files that it quoted to the letter."""


def read_failure(
    asker: Asker,
    case: Case,
    gathered: Gathered,
    *,
    similar: Sequence[Example] = (),
) -> ReadFailure:
    """A `ModelError` where it gives no answer."""
    view, about = failure_view(case, gathered), case.subject
    prompt = question(view, case, similar)
    if not case.workdir:
        answer = asker.ask(
            SCHEMA, prompt, purpose=PURPOSE, system=SYSTEM, max_tokens=MAX_TOKENS, about=about
        )
        return ReadFailure(answer, _quoted_lines(view, answer.value))
    desk = DirectoryDesk(case.workdir, case.reader, characters_left=_MOST_READ)
    talk = read_on(
        asker,
        SCHEMA,
        prompt,
        desk=desk,
        purpose=PURPOSE,
        system=SYSTEM,
        bounds=Bounds(turns=_TURNS, max_tokens=MAX_TOKENS),
        about=about,
    )
    finding = talk.answer.value
    return ReadFailure(talk.answer, _quoted_lines(view, finding), _quoted_code(desk, finding.code))


def _quoted_lines(view: FailureView, finding: ModelFinding) -> tuple[LogLine, ...]:
    found = (view.quoted(each.log, each.line, each.text) for each in finding.first_cause)
    return tuple(dict.fromkeys(line for line in found if line is not None))


def _quoted_code(desk: DirectoryDesk, quote: Quote | None) -> Evidence | None:
    lines = desk.lines_of(quote.file) if quote is not None else None
    number = None if quote is None or lines is None else found_at(quote.text, lines, quote.line)
    if quote is None or lines is None or number is None:
        return None
    return Evidence(quote.file, number, redact(lines[number - 1].strip())[:_WIDTH])

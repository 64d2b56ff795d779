"""Asks a reading model about a failure; lets it read the job's files where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from schedmate.agents import Bounds, read_on
from schedmate.handler.opinion_question import MAX_TOKENS, PURPOSE, SCHEMA, SYSTEM, question
from schedmate.handler.opinion_view import failure_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.agents import Desk
    from schedmate.handler.case import Case
    from schedmate.handler.learning.similar import Example
    from schedmate.handler.opinion_question import ModelFinding
    from schedmate.handler.opinion_view import FailureView
    from schedmate.handler.reading import Gathered
    from schedmate.model import Answer, Asker, Subject

_TURNS: Final = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """The view that was shown, and the answer to it."""

    view: FailureView
    answer: Answer[ModelFinding]


def read_failure(
    asker: Asker,
    case: Case,
    gathered: Gathered,
    *,
    similar: Sequence[Example] = (),
    desk: Desk | None = None,
    about: Subject | None = None,
) -> Reading:
    """A `ModelError` where it gives no answer."""
    view = failure_view(case, gathered)
    prompt = question(view, case, similar)
    if desk is None:
        answer = asker.ask(
            SCHEMA, prompt, purpose=PURPOSE, system=SYSTEM, max_tokens=MAX_TOKENS, about=about
        )
        return Reading(view, answer)
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
    return Reading(view, talk.answer)

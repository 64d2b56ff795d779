"""Puts to a model what behaviour leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedmate.model import Answer, Asker
from schedmate.tracker.unknown.naming import MAX_TOKENS, PURPOSE, SYSTEM, Question

if TYPE_CHECKING:
    from schedmate.tracker.unknown.roles import Roles


def ask(question: Question, asker: Asker) -> Answer[Roles]:
    return asker.ask(
        question.schema, question.prompt, purpose=PURPOSE, system=SYSTEM, max_tokens=MAX_TOKENS
    )

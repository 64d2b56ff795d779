"""A language model without a partner, as in the paper: the log's head and tail, and the reasons."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from bench.accuracy.failure_baselines import Answer
from schedmate.handler import Case
from schedmate.handler.opinion_question import MEANINGS
from schedmate.model import Asker, Cost

_HEAD_LINES, _TAIL_LINES = 150, 250
_MOST_CHARACTERS = 40_000
_SYSTEM = """\
A job on a GPU cluster ended. From its log say why: the line that shows the first cause, copied to \
the letter; the reason, out of the list (not_failed where the run did its work, unknown where the \
log does not say why); what follows from it: retry is no (the same run would fail again), same \
(try again anywhere), elsewhere (without the faulty node), resume (go on from the last checkpoint) \
or wait (try again later); what happened, in order; and what the user should change."""


class _Told(BaseModel):
    line: str
    reason: str
    retry: Literal["no", "same", "elsewhere", "resume", "wait"]
    explanation: str = Field(max_length=2000)
    change: str = Field(max_length=1000)


def _schema() -> type[_Told]:
    fields: dict[str, Any] = {"reason": (Literal[tuple(MEANINGS)], ...)}
    return create_model("Diagnosis", __base__=_Told, **fields)


_SCHEMA = _schema()


def ask_alone(asker: Asker, case: Case, text: str) -> tuple[Answer, str, Cost]:
    """The answer, what it would have the user read, and what it cost."""
    told = asker.ask(_SCHEMA, _prompt(case, text), purpose="alone", system=_SYSTEM, max_tokens=1500)
    value = told.value
    lines = (value.line,) if value.line.strip() and value.line.strip() in text else ()
    answer = Answer(reasons=frozenset({value.reason}), retry=value.retry, lines=lines)
    return answer, f"{value.explanation}\n{value.change}", told.cost


def _prompt(case: Case, text: str) -> str:
    lines = text.splitlines()
    if len(lines) > _HEAD_LINES + _TAIL_LINES:
        left_out = len(lines) - _HEAD_LINES - _TAIL_LINES
        lines = [*lines[:_HEAD_LINES], f"[{left_out} lines left out]", *lines[-_TAIL_LINES:]]
    shown = "\n".join(lines)
    if len(shown) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        shown = f"{shown[:half]}\n[…]\n{shown[-half:]}"
    reasons = "\n".join(f"{name}: {words}" for name, words in MEANINGS.items())
    ended = f"State {case.state}, exit code {case.exit_code}, signal {case.signal}"
    nodes = f", on {', '.join(case.nodes[:8])}" if case.nodes else ""
    return f"Reasons:\n{reasons}\n\n{ended}{nodes}{', hung' if case.hung else ''}\n\nLog:\n{shown}"

"""The answer's reading, and what the model is told about one that does not do."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from schedmate.llm.dialect import Message, Reply, Unusable

T = TypeVar("T", bound=BaseModel)

_SHOWN_ERRORS = 5
_SHOWN_ANSWER = 2000


def read_answer(schema: type[T], reply: Reply) -> tuple[T, str]:
    """The validated value and its JSON, or `Unusable` with what to tell the model."""
    try:
        return schema.model_validate_json(reply.text), reply.text
    except ValidationError as error:
        inner = _json_part(reply.text)
        if inner != reply.text:
            return read_answer(schema, replace(reply, text=inner))
        raise _unusable(reply, error) from error


def repair_turns(problem: Unusable) -> list[Message]:
    """What to add to the talk so that the next answer is better; nothing where nothing was said."""
    if not problem.for_model:
        return []
    return [
        {"role": "assistant", "content": problem.said[:_SHOWN_ANSWER]},
        {"role": "user", "content": problem.for_model},
    ]


def _unusable(reply: Reply, error: ValidationError) -> Unusable:
    if reply.cut_off:
        why = "its answer was longer than allowed and was cut off"
        return Unusable(why, said=reply.text, for_model=f"Stop: {why}. Answer again, shorter.")
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'answer'}: {fault['msg']}"
        for fault in error.errors()[:_SHOWN_ERRORS]
    )
    asked = f"That answer is not valid: {faults}. Answer again with the corrected JSON only."
    return Unusable(f"its answer does not fit: {faults}", said=reply.text, for_model=asked)


def _json_part(text: str) -> str:
    """Without the thinking before, the code fence around and the talk after it."""
    answer = text.rpartition("</think>")[2]
    start, end = answer.find("{"), answer.rfind("}")
    return answer[start : end + 1] if 0 <= start < end else text

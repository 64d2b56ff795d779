"""A question as it is sent, the reply, the key of its cached answer, and how an answer is read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Message = dict[str, str]


class Unusable(Exception):
    """A reply without a usable answer; `for_model` asks the model for a better one."""

    def __init__(self, why: str, *, answer: str = "", for_model: str = "") -> None:
        super().__init__(why)
        self.answer = answer
        self.for_model = for_model


class ConnectionLost(Unusable):
    """The server went away before it had answered."""


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    cut_off: bool
    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    system: str
    prompt: str
    schema_name: str
    schema_text: str
    max_tokens: int

    def key(self, model: str) -> str:
        parts = [model, self.system, self.prompt, self.schema_text, self.max_tokens]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def size(self) -> int:
        """Characters that the model has to read."""
        return len(self.system) + len(self.prompt)

    @property
    def most_tokens(self) -> int:
        return tokens_in(self.size) + self.max_tokens


def schema_text(schema: type[BaseModel]) -> str:
    """The schema as it is sent; the order of its fields is the order of the answer's."""
    return json.dumps(schema.model_json_schema())


def tokens_in(characters: int) -> int:
    """A guess on the high side, for endpoints that do not count."""
    return characters // 3 + 1


T = TypeVar("T", bound=BaseModel)

_SHOWN_ERRORS = 5
_SHOWN_ANSWER = 2000


def read_answer(schema: type[T], reply: Reply) -> tuple[T, str]:
    """The validated value and its JSON, or `Unusable` with a message for the model."""
    try:
        return schema.model_validate_json(reply.text), reply.text
    except ValidationError as error:
        inner = _json_part(reply.text)
        if inner != reply.text:
            return read_answer(schema, replace(reply, text=inner))
        raise _unusable(reply, error) from error


def repair_turns(problem: Unusable) -> list[Message]:
    """Messages that ask for a better answer; none where there was no answer."""
    if not problem.for_model:
        return []
    return [
        {"role": "assistant", "content": problem.answer[:_SHOWN_ANSWER]},
        {"role": "user", "content": problem.for_model},
    ]


def _unusable(reply: Reply, error: ValidationError) -> Unusable:
    if reply.cut_off:
        why = "its answer was longer than allowed and was cut off"
        return Unusable(why, answer=reply.text, for_model=f"Stop: {why}. Answer again, shorter.")
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'answer'}: {fault['msg']}"
        for fault in error.errors()[:_SHOWN_ERRORS]
    )
    asked = f"That answer is not valid: {faults}. Answer again with the corrected JSON only."
    return Unusable(f"its answer does not fit: {faults}", answer=reply.text, for_model=asked)


def _json_part(text: str) -> str:
    """Without the thinking before, the code fence around and the talk after it."""
    answer = text.rpartition("</think>")[2]
    start, end = answer.find("{"), answer.rfind("}")
    return answer[start : end + 1] if 0 <= start < end else text

"""A question as it is sent, and the key of its answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from schedmate.llm.dialect import Message, Reply, Unusable

if TYPE_CHECKING:
    from pydantic import BaseModel


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

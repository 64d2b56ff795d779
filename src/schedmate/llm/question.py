"""A question as it is sent, and the key of its answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

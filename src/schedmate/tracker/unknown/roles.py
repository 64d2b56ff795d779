"""What a model may answer about the numbers of a line. Only asking needs this, and pydantic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model


class Roles(BaseModel):
    """What the model may say: numbers as printed in the last line, or none."""

    model_config = ConfigDict(extra="forbid")
    done: str
    total: str


def roles_among(counts: Iterable[str], totals: Iterable[str]) -> type[Roles]:
    """The same with these numbers to choose from."""
    fields: dict[str, Any] = {
        "done": (Literal[tuple(counts)], ...),
        "total": (Literal[tuple(totals)], ...),
    }
    return create_model("Roles", __base__=Roles, **fields)

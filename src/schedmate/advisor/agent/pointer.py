"""A language model as the pointer: asked twice or thrice, within a time, its cost added up."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from schedmate.advisor.agent.gaps import Choice, Gap, Pointed
from schedmate.advisor.agent.question import PURPOSE, SYSTEM, Question
from schedmate.advisor.agent.voting import vote
from schedmate.model import Asker, Cost, Subject, Workload

T = TypeVar("T", bound=BaseModel)


@dataclass(slots=True)
class ModelPointer:
    """No call begins after `seconds`."""

    asker: Asker
    about: Subject | None = None
    seconds: float = 180.0
    cost: Cost = field(default_factory=Cost)
    _ends: float | None = None

    @property
    def in_time(self) -> bool:
        if self._ends is None:
            self._ends = time.monotonic() + self.seconds
        return time.monotonic() < self._ends

    def point(self, job: str, known: Workload, gaps: Sequence[Gap]) -> Mapping[str, Pointed]:
        return vote(Question(job, known, gaps), self) if self.in_time else {}

    def put(self, question: Question) -> dict[str, Choice | None]:
        """Ask it; what was picked by gap."""
        answer = self._ask(question.schema, question.prompt, SYSTEM, question.max_tokens)
        return question.read(answer)

    def _ask(self, schema: type[T], prompt: str, system: str, max_tokens: int) -> T:
        answer = self.asker.ask(
            schema,
            prompt,
            purpose=PURPOSE,
            system=system,
            max_tokens=max_tokens,
            about=self.about,
        )
        self.cost += answer.cost
        return answer.value

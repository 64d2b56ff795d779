"""What reading leaves open, why, and the places that a pointer may choose from.

A pointer, be it a model, answers with one of the choices and nothing else: a file, a command or a
value, each with its line. The interpreter then follows what was pointed at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from schedmate.advisor.launch.run import Launch
from schedmate.model import Cost, Evidence, Workload


@dataclass(frozen=True, slots=True)
class Choice:
    """A value as the record would have it, the name it goes by and the line that states it."""

    value: Any
    name: str
    line: Evidence

    @property
    def shown(self) -> str:
        return f"{self.value:.12g}" if isinstance(self.value, float) else str(self.value)


@dataclass(frozen=True, slots=True)
class Gap:
    """`key` is the field of the record, or what is missing on the way to it; `asks` is the
    question in plain words, with the reason why reading did not answer it."""

    key: str
    asks: str
    choices: tuple[Choice, ...]

    def turned(self) -> Gap:
        return replace(self, choices=self.choices[::-1])


@dataclass(frozen=True, slots=True)
class WayGap:
    """A gap on the way to the code: with it all that lies behind is missing.

    `follow` gives what the job would start if a choice were right; None where that is what was
    read already.
    """

    gap: Gap
    follow: Callable[[Choice], Launch | None]
    was_guessed: bool = False
    """Whether what was read so far was a guess too, which a pointer overrules."""


@dataclass(frozen=True, slots=True)
class Pointed:
    choice: Choice
    voices: int = 1


class Pointer(Protocol):
    """Chooses; what it leaves out of its answer is none of the choices."""

    @property
    def cost(self) -> Cost: ...

    def point(self, job: str, known: Workload, gaps: Sequence[Gap]) -> Mapping[str, Pointed]:
        """By the gaps' keys; may raise `ModelError`."""

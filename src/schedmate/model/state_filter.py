"""Which states someone asks for: `RUNNING,failing`."""

from __future__ import annotations

from schedmate.model.errors import BadInput
from schedmate.model.job import JobState

FAILING = "FAILING"
"""Stands, where states are asked for, for all that `failed`."""


STATE_NAMES = (*JobState, FAILING)


def is_among(state: JobState, wanted: str) -> bool:
    """`wanted` are states in any case with commas between; without any, all are."""
    words = _state_words(wanted)
    return not words or state in words or (state.failed and FAILING in words)


def check_states(wanted: str) -> None:
    """BadInput where `wanted` names a state that does not exist."""
    for word in _state_words(wanted):
        if word not in STATE_NAMES:
            known = ", ".join(STATE_NAMES)
            raise BadInput(f"no state is called {word!r}; the states are {known}")


def _state_words(wanted: str) -> list[str]:
    return [word for part in wanted.upper().split(",") if (word := part.strip())]

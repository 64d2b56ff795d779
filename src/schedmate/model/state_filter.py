"""Which states can be asked for: `RUNNING,failing`."""

from __future__ import annotations

from schedmate.model.errors import BadInput
from schedmate.model.job import FAILING, JobState

STATE_NAMES = (*JobState, FAILING)


def check_states(wanted: str) -> None:
    """BadInput where `wanted` names a state that does not exist."""
    for part in wanted.upper().split(","):
        word = part.strip()
        if word and word not in STATE_NAMES:
            known = ", ".join(STATE_NAMES)
            raise BadInput(f"no state is called {word!r}; the states are {known}")

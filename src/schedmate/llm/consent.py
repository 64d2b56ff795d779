"""Whether a model may be asked about a job: its owner and the site can forbid it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schedmate.model import NoConsent
from schedmate.model.comments import words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedmate.model import Subject

_REFUSALS: Final = ("no-model", "off")


def check_consent(about: Subject | None, never: Sequence[str]) -> None:
    """`NoConsent` where the job's comment or the setting `llm.never` forbids it."""
    if about is None:
        return
    asked = words_in(about.comment)
    for word in _REFUSALS:
        if word in asked:
            raise NoConsent(f"the job was submitted with --comment schedmate={word}")
    for entry in never:
        if entry == about.user or (entry.startswith("/") and _lies_in(about.workdir, entry)):
            raise NoConsent(f"no model is asked about jobs of {entry} (setting llm.never)")


def _lies_in(directory: str, project: str) -> bool:
    return f"{directory.rstrip('/')}/".startswith(f"{project.rstrip('/')}/")

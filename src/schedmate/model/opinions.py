"""A model's opinion on a failure in words, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedmate.model.diagnosis import Opinion


def in_words(opinion: Opinion | None) -> Iterator[tuple[str, str]]:
    """Labels and texts; nothing where there is none."""
    if opinion is None:
        return
    other = "" if opinion.agrees else f"; rules say {opinion.rules_reason}"
    yield "model", f"{opinion.model} says {opinion.reason}, {opinion.sure}{other}"
    for line in opinion.evidence:
        yield "", f"{line.file}:{line.line}: {line.text}"
    if opinion.chain:
        yield "", " → ".join(opinion.chain)
    if opinion.change:
        yield "change", f"{opinion.change} (a model's advice)"
    if opinion.code is not None:
        yield "", f"{opinion.code.file}:{opinion.code.line}: {opinion.code.text}"
    if opinion.refuted_by:
        yield "refuted", f"by {opinion.refuted_by}"

"""Rules for exceptions that are known by their type alone."""

import re

from schedmate.handler.rules.base import Rule


def by_name(reason: str, *types: str, example: str, confidence: float = 0.85) -> Rule:
    """An exception known by its type alone."""
    names = "|".join(types)
    return Rule(
        reason=reason,
        pattern=re.compile(rf"^(?:[\w.]{{1,120}}\.)?(?:{names})(?::|$)"),
        errors_only=True,
        confidence=confidence,
        positives=(types[0], f"{types[0]}: {example}"),
        negatives=(f"no {types[0]} here",),
    )

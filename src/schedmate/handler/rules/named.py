"""How the user's families write their patterns: by a type's name, or by any of many messages."""

from schedmate.handler.rules.base import Lazy, Rule

_FILTERED = r"(?:[\w.]{1,80}UnfilteredStackTrace: )?"
"""What JAX puts before the exception that it shows again."""


def any_of(*messages: str) -> Lazy:
    return Lazy("|".join(messages))


def typed(*types: str) -> str:
    """The beginning of `Type: message`, with or without the type's module."""
    return rf"^{_FILTERED}(?:[\w.]{{1,120}}\.)?(?:{'|'.join(types)})(?::|$)"


def by_name(reason: str, *types: str, examples: tuple[str, ...], confidence: float = 0.85) -> Rule:
    """An exception known by its type alone."""
    return Rule(
        name="exception-type",
        reason=reason,
        pattern=Lazy(typed(*types)),
        errors_only=True,
        confidence=confidence,
        positives=(types[0], *(f"{types[0]}: {example}" for example in examples)),
        negatives=(f"no {types[0]} here", f"{types[0]}Counter: 3"),
    )

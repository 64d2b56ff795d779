"""Past cases with a line similar to one of this failure's, as examples for a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from schedmate.handler.rules import RULES
from schedmate.handler.signature import distinctive_words, masked
from schedmate.model import REASONS

_ALIKE: Final = 0.45
_MOST: Final = 2


@dataclass(frozen=True, slots=True)
class Example:
    line: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Bag:
    example: Example
    words: frozenset[str]


def similar(
    lines: Sequence[str], past: Iterable[Example], *, allowed: Iterable[str], rules: bool = True
) -> tuple[Example, ...]:
    """The most similar of past cases and of the rules' own examples, one a reason."""
    reasons = set(allowed)
    bags = [_bag(one) for one in past if one.reason in reasons]
    if rules:
        bags += [bag for bag in _rules_examples() if bag.example.reason in reasons]
    rarity = _rarity(bags)
    asked = [frozenset(distinctive_words(masked(line))) for line in lines]
    scored = [
        (max((_alike(words, bag.words, rarity) for words in asked), default=0.0), index)
        for index, bag in enumerate(bags)
    ]
    best: dict[str, Example] = {}
    for score, index in sorted(scored, key=lambda pair: (-pair[0], pair[1])):
        if score < _ALIKE or len(best) == _MOST:
            break
        best.setdefault(bags[index].example.reason, bags[index].example)
    return tuple(best.values())


@cache
def _rules_examples() -> tuple[_Bag, ...]:
    return tuple(
        _bag(Example(text.partition("\n")[0], rule.reason))
        for rule in RULES
        if REASONS[rule.reason].category != "none"
        for text in rule.positives
        if isinstance(text, str)
    )


def _bag(example: Example) -> _Bag:
    return _Bag(example, frozenset(distinctive_words(masked(example.line))))


def _rarity(bags: Sequence[_Bag]) -> dict[str, float]:
    often = Counter(word for bag in bags for word in bag.words)
    return {word: math.log(1 + len(bags) / count) for word, count in often.items()}


def _alike(one: frozenset[str], other: frozenset[str], rarity: dict[str, float]) -> float:
    """The cosine of two bags of words, rare words counting more."""
    shared = sum(rarity.get(word, 0.0) ** 2 for word in one & other)
    if not shared:
        return 0.0
    newest = max(rarity.values())
    lengths = [sum(rarity.get(word, newest) ** 2 for word in bag) for bag in (one, other)]
    return shared / math.sqrt(lengths[0] * lengths[1])

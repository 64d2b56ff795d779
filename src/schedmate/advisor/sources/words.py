"""A set of words, written as a sentence is."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())

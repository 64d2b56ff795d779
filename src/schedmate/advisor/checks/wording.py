"""Spans of time as people say them."""

from __future__ import annotations


def in_words(seconds: float) -> str:
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {name}"
    whole = round(seconds)
    return "1 second" if whole == 1 else f"{whole} seconds"

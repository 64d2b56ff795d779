"""What a run's progress means, in the words that all verbs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedmate.model import EndsBy, Slowdown, Spread

    Written = Callable[[float | None], str]
    """Puts a number of seconds into words."""

_BY: dict[EndsBy, str] = {"cap": "by its time cap ", "limit": "by the scheduler's limit "}


def end_in_words(left: Spread, ends_by: EndsBy, written: Written, *, brief: bool = False) -> str:
    """`ends by its time cap in 00:03:00 (…)`"""
    text = f"ends {_BY.get(ends_by, '')}in {written(left.p50)}"
    if brief:
        return text
    if left.p10 < left.p90:
        text += f" ({written(left.p10)} to {written(left.p90)})"
    return f"{text}, if it does not stop early" if ends_by == "early_stop" else text


def slowdown_in_words(slowdown: Slowdown, written: Written) -> str:
    """`slowed to 55% of its speed after 00:12:00`"""
    whose = "of its speed" if slowdown.against == "own" else "of similar runs' speed"
    return f"slowed to {slowdown.factor:.0%} {whose} after {written(slowdown.since_s)}"

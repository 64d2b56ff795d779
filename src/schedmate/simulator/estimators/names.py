"""Which jobs have a similar name: one user's names that are a few letters apart are one."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from schedmate.simulator.columns import Coded, Ints

_SIMILAR = 0.7
_REMEMBERED = 20
_LETTERS = 60


def name_groups(owner: Ints, name: Coded) -> Ints:
    """The number of each job's group of names, found in order of submission: a name joins the
    newest group of its owner that it is similar to, or founds one."""
    groups: dict[tuple[int, int], int] = {}
    founders: defaultdict[int, deque[tuple[str, int]]] = defaultdict(
        lambda: deque(maxlen=_REMEMBERED)
    )
    found = np.empty(len(owner), dtype=np.int64)
    count = 0
    for job, key in enumerate(zip(owner.tolist(), name.codes.tolist(), strict=True)):
        group = groups.get(key)
        if group is None:
            theirs, word = founders[key[0]], name.words[key[1]][:_LETTERS]
            group = next((number for known, number in theirs if similar(word, known)), None)
            if group is None:
                group, count = count, count + 1
                theirs.appendleft((word, group))
            groups[key] = group
        found[job] = group
    return found


def similar(one: str, other: str) -> bool:
    longest = max(len(one), len(other))
    if abs(len(one) - len(other)) > (1 - _SIMILAR) * longest:
        return False
    return edit_distance(one, other) <= (1 - _SIMILAR) * longest


def edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance, a column of its table at a time in the bits of a number (Myers)."""
    if not one or not other:
        return max(len(one), len(other))
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, distance = full, 0, len(one)
    for letter in other:
        same = places.get(letter, 0)
        diagonal = (((same & up) + up) ^ up) | same
        right, left = down | ~(diagonal | up) & full, up & diagonal
        distance += bool(right & last) - bool(left & last)
        right, left = (right << 1 | 1) & full, left << 1 & full
        same |= down
        up, down = left | ~(same | right) & full, right & same
    return distance

"""What the owner of a job asks of SchedMate in its comment."""

from __future__ import annotations

import re

_WORD = re.compile(r"(?:^|[\s,;])schedmate=([\w-]{1,40})(?=$|[\s,;])", re.IGNORECASE)


def words_in(comment: str) -> frozenset[str]:
    """Each word behind `schedmate=`."""
    return frozenset(map(str.lower, _WORD.findall(comment))) if comment else frozenset()

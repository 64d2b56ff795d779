"""Paths that stand for one which a user is to fill in: `/path/to/model`, `<your data>`."""

from __future__ import annotations

import re

_PLACEHOLDER = re.compile(
    r"(?:^|/)path[s_-]?(?:/|[_-])to(?:/|[_-]|$)|^<[^<>]{1,80}>$|(?:^|[/_<-])(?:your|change_?me|todo)(?:[/_-]|$)"
    r"|^/?x{3,}(?:/|$)",
    re.IGNORECASE,
)


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.search(text.strip()) is not None

"""Regular expressions that are compiled at their first use: of hundreds a log needs a few."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


class LazyPattern:
    """After the first use its methods are the compiled pattern's own, so that none is slower."""

    search: Callable[[str], re.Match[str] | None]

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """For code that uses any method of a compiled pattern."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))

"""Files of command-line words, as `--flagfile` and `@file` name them, as a list of words."""

from __future__ import annotations

import shlex

from schedmate.advisor.interpret.python.values import Sequence, Value
from schedmate.advisor.options.configs.building import Builder

_COMMENTS = ("#", "//")
_LONGEST_LINE = 5000


def read(text: str, builder: Builder) -> Value | None:
    """None where the first line that says something is no option."""
    items: list[Value] = []
    complete = True
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(_COMMENTS):
            continue
        if not items and not line.startswith("-"):
            return None
        if not builder.spend():
            complete = False
            break
        items += [builder.value(word, number) for word in _words(line[:_LONGEST_LINE])]
    return builder.value(Sequence(items, complete), 1) if items else None


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()

"""A file that is picked from a directory's listing: `sorted(glob("out/*.pt"))[-1]`."""

from __future__ import annotations

import re

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.interpret.python.values import Call

_LISTS = re.compile(
    r"\bi?glob\(\s?f?[\"'](?P<pattern>[^\"'*{}]{1,200})/[^\"'/]{0,80}[\"']"
    r"|Path\([\"'](?P<path>[^\"']{1,200})[\"']\)\.(?:r?glob|iterdir)\("
    r"|\b(?:listdir|scandir)\(\s?[\"'](?P<directory>[^\"']{1,200})[\"']\s?\)"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_STEPS = 4


def listed_directory(reading: Reading, call: Call) -> str:
    """The directory that a call's file is picked from, if the lines that name it state one."""
    texts = {each.name: each.line.text for each in reading.trace.bindings if not each.value.plain}
    text = call.line.text
    for _ in range(_MOST_STEPS):
        found = _LISTS.search(text)
        if found is not None:
            return next(part for part in found.groups() if part).removeprefix("./").rstrip("/")
        inside = text.partition("load(")[2] or text.partition("=")[2]
        text = " ".join(texts.pop(name) for name in _NAME.findall(inside) if name in texts)
    return ""

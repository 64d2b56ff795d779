"""Filters by which a job of an array picks its line: `sed -n 3p`, `awk NR==3`, `head | tail`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SED_LINE = re.compile(r"(\d{1,6})p|(\d{1,6})!d|(\d{1,6})q;\s?d|(\d{1,6})\{p;q;?\}")
_AWK = re.compile(
    r"\s*(?:(NR|\$\d{1,2})\s*==\s*\"?([\w.+-]{1,100})\"?)?\s*"
    r"(?:\{\s*print\s*(\$\d{1,2}(?:\s*(?:,|\" \")\s*\$\d{1,2}){0,9})?\s*(?:;\s*exit)?;?\s*\})?\s*"
)
_TAIL = re.compile(r"-n ?(\+?)(\d{1,6})|-(\d{1,6})")


def sed_line(arguments: Sequence[str], stdin: str) -> str | None:
    """One line by its number; None where it is another script."""
    words = [word for word in arguments if word not in ("-n", "-e", "--quiet", "--silent")]
    found = _SED_LINE.fullmatch(words[0].strip()) if len(words) == 1 else None
    if found is None:
        return None
    number = int(next(group for group in found.groups() if group))
    return "".join(stdin.splitlines(keepends=True)[number - 1 : number]) if number else ""


def awk(arguments: Sequence[str], stdin: str | None) -> str | None:
    """A line by its number or by what stands in a column of it, or columns of all lines."""
    words, separator, text = list(arguments), None, None
    values: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if word == "-v" and words:
            name, _, value = words.pop(0).partition("=")
            values[name] = value
        elif word == "-F" and words:
            separator = words.pop(0)
        elif word.startswith("-F"):
            separator = word[2:]
        elif text is None:
            text = word
        else:
            return None
    for name, value in values.items():
        plain = value.replace("\\", "")
        text = re.sub(rf"(?<!\$)\b{re.escape(name)}\b", plain, text or "")
    found = _AWK.fullmatch(text or "")
    if stdin is None or found is None or not (found[1] or found[3]):
        return None
    return _picked(stdin, separator, found)


def _picked(stdin: str, separator: str | None, found: re.Match[str]) -> str:
    lines: list[str] = []
    for number, line in enumerate(stdin.splitlines(), 1):
        columns = [line, *line.split(separator)]
        if found[1]:
            value = str(number) if found[1] == "NR" else _column(columns, found[1])
            if value != found[2]:
                continue
        chosen = re.findall(r"\$\d{1,2}", found[3] or "$0")
        lines.append(" ".join(_column(columns, name) for name in chosen))
    return "".join(f"{line}\n" for line in lines)


def _column(columns: Sequence[str], name: str) -> str:
    number = int(name[1:])
    return columns[number] if number < len(columns) else ""


def tail(arguments: Sequence[str], stdin: str | None) -> str | None:
    found = _TAIL.fullmatch(" ".join(arguments))
    if stdin is None or found is None:
        return None
    lines, count = stdin.splitlines(keepends=True), int(found[2] or found[3])
    if found[1]:
        return "".join(lines[max(count - 1, 0) :])
    return "".join(lines[-count:]) if count else ""
